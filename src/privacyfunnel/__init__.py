"""privacyfunnel: publish data X without giving away the sensitive S.

    table -> joint p(s,x) -> solver -> code (partition | channel) -> frontier -> release

The public names stand in ``__init__.pyi`` and are imported when first used, so that
the command line answers at once.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
