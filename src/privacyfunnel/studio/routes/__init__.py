"""Routes: ``pages`` is what the browser may read, ``actions`` what it may ask for."""
