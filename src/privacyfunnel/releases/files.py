"""Files: what a release consists of, in one table."""

from __future__ import annotations

from privacyfunnel.files import FORMATS

TABLES = tuple(f"release.{form}" for form in FORMATS)
CODEBOOK, PAGE, DOCUMENT = "codebook.json", "report.html", "report.json"
README, PACKAGE, CROISSANT = "README.html", "datapackage.json", "croissant.json"
CHECKSUMS = "checksums.json"

FILES = {  # the table comes first, the checksums of all others last
    CODEBOOK: "what each group or symbol stands for",
    PAGE: "the report, for people",
    DOCUMENT: "the report, for programs",
    README: "for those who receive the release; nothing in it is about sensitive columns",
    PACKAGE: "the release described as a Data Package",
    CROISSANT: "the release described in Croissant",
    CHECKSUMS: "fingerprints of all files, which funnel verify compares",
}
ANY_FILES = (*TABLES, *FILES)
