"""Orders and hierarchies of categories: what the page is told is what the release keeps to."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from studio_client import element

SIZES = ["L", "M", "S", "XL"]  # as the page lists them
TREE = "Bonn;north;*\r\nPisa;south;*\r\nRom;south;*\r\n"
MARKS = {"sensitive-0": "on", "public-1": "on", "public-2": "on"}


def people(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "ill": rng.integers(0, 2, n),
            "size": rng.choice(SIZES, n),
            "city": rng.choice(["Bonn", "Pisa", "Rom"], n),
        }
    )


def test_a_release_keeps_to_the_order_and_the_hierarchy_and_its_command_names_them(visitor):
    visitor.upload("people.csv", people().to_csv(index=False))
    visitor.finished("/columns")
    order = {f"order-0-{SIZES.index(size)}": "" for size in ("S", "M", "L", "XL")}
    settings = {"recoding": "global", "effort": "fast", "points": "3"}
    shapes = {"shape-0": "order", **order, "shape-1": "tree", "tree-1": TREE}
    assert visitor.searched(MARKS, settings | shapes)["state"] == "done"
    page = visitor.released(("kept", "0.4"))
    command = element(page, "command")
    assert "'--order=size=S<M<L<XL'" in command
    assert "--hierarchy=city=hierarchy-1.csv" in command
    assert visitor.get("/files/hierarchy-1.csv").text == TREE.replace("\r", "")
    assert visitor.get("/files/hierarchy-2.csv").status_code == 404
    book = json.loads(visitor.get("/files/codebook.json").text)
    for column in book["columns"]:
        labels = {group["label"] for group in column["groups"]}
        if column["name"] == "city":
            assert labels <= {"Bonn", "Pisa", "Rom", "south", "*"}
        else:
            runs = {"S", "M", "L", "XL", "S or M", "M or L", "L or XL", "S to L", "M to XL", "*"}
            assert labels <= runs
    again = visitor.get("/columns").text  # what was chosen is there when one comes back
    assert again.index(">S</span>") < again.index(">M</span>") < again.index(">XL</span>")
    assert "disabled" not in again  # and another recoding, without them, can be asked for


def test_a_hierarchy_that_lacks_a_value_is_told_and_a_job_that_was_replaced_is_no_fault(visitor):
    visitor.upload("people.csv", people().to_csv(index=False))
    visitor.finished("/columns")
    settings = {"recoding": "global", "shape-1": "tree", "tree-1": "Bonn;*\n"}
    failed = visitor.searched(MARKS, settings)
    assert failed["state"] == "failed"
    assert "lacks 2 of the values, such as 'Pisa', 'Rom'" in failed["error"]
    old = visitor.job("/tradeoff", "search")
    visitor.post("/search", data={"recoding": "global", "points": "1"})
    gone = visitor.get(f"/jobs/{old}")
    assert gone.status_code == 200
    assert gone.json()["state"] == "dropped"
