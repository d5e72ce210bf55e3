"""Codebook: what each released symbol stands for, in a file that people and programs can read."""

from privacyfunnel.codebook.book import Codebook, Symbol
from privacyfunnel.codebook.document import FORMAT, VERSION, schema

__all__ = ["FORMAT", "VERSION", "Codebook", "Symbol", "schema"]
