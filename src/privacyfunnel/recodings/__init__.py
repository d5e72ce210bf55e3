"""Recodings: codes that people can read. Every public column stays a column, coarsened."""
