"""Frontiers: the best trade-offs of many λ or targets, one picture."""

from privacyfunnel.frontiers.frontier import Frontier

__all__ = ["Frontier"]
