"""Description: a release for catalogues and programs, as a Data Package and in Croissant.

Both are made from the public document and the public codebook, and so say nothing about S.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.output import ANY
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.releases.checksums import fingerprint
from privacyfunnel.releases.files import CODEBOOK
from privacyfunnel.report.receiver_words import cite, released_columns, what_was_done

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
MEDIA = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
FIELD_TYPES = {  # of a column's kind in a Data Package, and in Croissant
    "text": ("string", "sc:Text"),
    "number": ("number", "sc:Float"),
    "date": ("date", "sc:Date"),
    "datetime": ("datetime", "sc:DateTime"),
    "": ("any", "sc:Text"),  # kept as it was
}
LICENSE = "Not stated: ask whoever published the release."
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet",
            "format", "includes",
            "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references",
            "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
            "transform",
        )
    },
}  # fmt: skip


def data_package(table: Path, document: Mapping[str, Any], book: Codebook) -> dict[str, Any]:
    """The release as a Data Package: its table with the type, meaning and labels of each column."""
    form = table.suffix.lstrip(".")
    fields = []
    for column in released_columns(book, document):
        field = {
            "name": column["name"],
            "type": FIELD_TYPES[column["kind"]][0],
            "description": column["text"],
        }
        labels = _labels(book, column["name"], document)
        if labels and column["kind"] == "text":
            field["constraints"] = {"enum": labels}
        fields.append(field)
    resource: dict[str, Any] = {
        "name": "release",
        "type": "table",
        "path": table.name,
        "format": form,
        "mediatype": MEDIA[table.suffix],
        "schema": {"fields": fields, "missingValues": [WRITTEN]},
    }
    if table.is_file():
        resource["hash"] = fingerprint(table)
    if form == "csv":
        resource["encoding"] = "utf-8"
    return {
        "$schema": PROFILE,
        "name": "release",
        "title": _title(book),
        "description": " ".join(what_was_done(book, document)),
        "version": "1.0.0",
        "resources": [resource],
    }


def _labels(book: Codebook, name: str, document: Mapping[str, Any]) -> list[str]:
    """The labels that may stand in a column of the file; none where it holds something else."""
    if not book.columns:
        return book.labels if name == document["release"]["columns"][0] else []
    for column in book.columns:
        if column.name == name:
            labels = [group.label for group in column.groups]
            return [*labels, *([ANY] if ANY not in labels and book.min_count > 1 else [])]
    return []


def croissant(
    table: Path, codebook: Path | None, document: Mapping[str, Any], book: Codebook
) -> dict[str, Any]:
    """The release in Croissant, the vocabulary of MLCommons for data sets."""
    files = [_file(table, MEDIA[table.suffix])]
    if codebook is not None:
        files.append(_file(codebook, "application/json"))
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"records/{i}",
            "name": column["name"],
            "description": column["text"],
            "dataType": FIELD_TYPES[column["kind"]][1],
            "source": {"fileObject": {"@id": table.name}, "extract": {"column": column["name"]}},
        }
        for i, column in enumerate(released_columns(book, document))
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "release",
        "alternateName": _title(book),
        "description": " ".join(what_was_done(book, document)),
        "license": LICENSE,
        "url": CODEBOOK if codebook is not None else table.name,
        "version": "1.0.0",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "citeAs": cite(document, book),
        "distribution": files,
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}
        ],
    }


def _file(path: Path, form: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": form.replace("vnd.apache.parquet", "x-parquet"),
        "sha256": fingerprint(path).removeprefix("sha256:"),
    }


def _title(book: Codebook) -> str:
    return ", ".join(column.name for column in book.roles.public)
