"""Report: what a table puts at stake and what a release keeps and gives away, in words for people.

    joint -> Stakes;  release -> measure -> document (report.json) -> page (report.html)

The page is drawn from the document alone, so that a public document makes a public page.
"""

from privacyfunnel.metrics import Chance, shuffled
from privacyfunnel.report.document import Asked, describe, without_sensitive
from privacyfunnel.report.making import NotAsMeasured, make_release
from privacyfunnel.report.measuring import Measured, measure
from privacyfunnel.report.page import page
from privacyfunnel.report.stakes import Stakes, stakes
from privacyfunnel.report.words import summary

__all__ = [
    "Asked",
    "Chance",
    "Measured",
    "NotAsMeasured",
    "Stakes",
    "describe",
    "make_release",
    "measure",
    "page",
    "shuffled",
    "stakes",
    "summary",
    "without_sensitive",
]
