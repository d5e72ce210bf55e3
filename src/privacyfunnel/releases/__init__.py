"""Releases: the curator's job, from a request to the files of a release.

request -> search -> write -> verify -> audit -> document, a file each; :func:`release.release`, which
is ``pf.release``, takes a table through them.
"""
