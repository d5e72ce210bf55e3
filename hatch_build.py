"""What the wheel is made of: a bill of materials (CycloneDX) in its metadata, as PEP 770 places it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement

PLACE = "build/privacyfunnel.cdx.json"


class BillOfMaterials(BuildHookInterface[Any]):
    """Lists the libraries that the package asks for, with their bounds; extras are marked optional."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        path = Path(self.root, PLACE)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.bill(), indent=1), encoding="utf-8")
        build_data["sbom_files"].append(PLACE)

    def bill(self) -> dict[str, Any]:
        core = self.metadata.core
        asked = [(line, "") for line in core.dependencies]
        for extra, lines in core.optional_dependencies.items():
            asked += [(line, extra) for line in lines if extra not in ("all", "dev", "docs")]
        itself = f"pkg:pypi/{core.name}@{self.metadata.version}"
        parts = [part(Requirement(line), extra) for line, extra in asked]
        return {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": {
                    "type": "library",
                    "bom-ref": itself,
                    "name": core.name,
                    "version": self.metadata.version,
                    "purl": itself,
                    "licenses": [{"license": {"id": core.license_expression}}],
                }
            },
            "components": parts,
            "dependencies": [{"ref": itself, "dependsOn": [p["bom-ref"] for p in parts]}],
        }


def part(needed: Requirement, extra: str) -> dict[str, Any]:
    """A library by its name; which version it is, is settled where the wheel is installed."""
    bounds = {"name": "privacyfunnel:versions", "value": str(needed.specifier) or "any"}
    of_extra = [{"name": "privacyfunnel:extra", "value": extra}] if extra else []
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{needed.name}",
        "name": needed.name,
        "purl": f"pkg:pypi/{needed.name}",
        "scope": "optional" if extra else "required",
        "properties": [bounds, *of_extra],
    }
