"""Paths: names and formats of files that do not tell enough by themselves."""

import pytest

from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables import count, open_table
from privacyfunnel.tables.connection import connect
from privacyfunnel.tables.engines.duckdb import open_files
from privacyfunnel.tables.paths import read_paths


def test_columns_of_one_name_get_names_of_their_own(tmp_path):
    path = tmp_path / "twins.csv"
    path.write_text("ill,priors,priors,priors_1\n1,2,3,4\n0,5,6,7\n")
    table = open_table(path)
    assert table.names == ("ill", "priors", "priors_2", "priors_1")
    assert count(table, "ill", ["priors", "priors_2"]).joint().labels_x == ((2, 3), (5, 6))


def test_the_format_can_be_said_where_the_name_does_not_tell(tmp_path):
    path = tmp_path / "table.dat"
    path.write_text("ill\tage\n1\t40\n0\t31\n")
    with pytest.raises(InvalidInput, match="cannot tell the format") as error:
        open_table(path)
    assert error.value.hint == "input-format"
    assert open_table(path, input_format="tsv").columns == {"ill": "integer", "age": "integer"}
    with pytest.raises(InvalidInput, match="input_format must be"):
        open_table(path, input_format="xlsx")
    with pytest.raises(InvalidInput, match="is for files"):
        open_table(f"duckdb://{path}#t", input_format="csv")
    with pytest.raises(InvalidInput, match="is for files"):
        open_table({"ill": [1]}, input_format="csv")


def test_words_for_yes_and_no_stay_words(tmp_path):
    """As a frame has them: true and false are of one kind in every table, yes and no are text."""
    path = tmp_path / "t.csv"
    path.write_text("car,pet,flag,mixed,none\nyes,true,t,true,\nno,FALSE,f,no,\n,True,t,,\n")
    opened = open_table(path)
    assert opened.kinds[:4] == ("text", "boolean", "text", "text")
    assert count(path, "pet", ["car", "flag"]).joint().labels_x == (
        ("no", "f"),
        ("yes", "t"),
        (None, "t"),
    )
    assert open_files(path, None, {"car": "boolean"}).kinds[0] == "boolean"


def test_what_stands_for_a_missing_value_can_be_told(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("city\nNA\nBonn\n")
    with connect() as con:
        assert con.sql(f"FROM {read_paths(con, path, {}).sql}").fetchall() == [("NA",), ("Bonn",)]
        told = read_paths(con, path, {}, missing=["", "NA"])
        assert con.sql(f"FROM {told.sql}").fetchall() == [(None,), ("Bonn",)]
