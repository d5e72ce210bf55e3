"""Releases: the curator's job, from a request to the files of a release.

request -> search -> write -> verify -> audit -> document
"""

from privacyfunnel.releases.document import Asked, describe, without_sensitive
from privacyfunnel.releases.release import NotAsMeasured, make_release
from privacyfunnel.releases.stakes import Stakes, stakes
from privacyfunnel.releases.verify import Measured, measure

__all__ = [
    "Asked",
    "Measured",
    "NotAsMeasured",
    "Stakes",
    "describe",
    "make_release",
    "measure",
    "stakes",
    "without_sensitive",
]
