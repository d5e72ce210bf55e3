"""Studio: the curator's job in a local web page, a coat over the same library calls.

    browser -> guard -> routes -> session -> worker: a process for each task -> library

Nothing is computed in the server itself: every look at a table, every search and every release is a
task in a process of its own, so that the page always answers and any task can be stopped.
"""
