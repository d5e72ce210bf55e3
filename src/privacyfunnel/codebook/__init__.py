"""Codebook: what each released symbol stands for, in a file that people and programs can read."""

from privacyfunnel.codebook.checks import FORMAT, VERSION, schema
from privacyfunnel.codebook.codebook import Codebook, Symbol
from privacyfunnel.codebook.secret import read_secret

__all__ = ["FORMAT", "VERSION", "Codebook", "Symbol", "read_secret", "schema"]
