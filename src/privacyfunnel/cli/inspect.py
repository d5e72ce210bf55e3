"""``funnel inspect``: what a table holds and what is at stake, before anything is decided."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.cli.terminal import say
from privacyfunnel.columns.spelling import read_columns

if TYPE_CHECKING:
    from privacyfunnel.metrics.stakes import Stakes
    from privacyfunnel.releases.cautions import Caution
    from privacyfunnel.tables import ColumnSummary, Counts

VERSION = 1


def inspect(
    table: options.Table,
    sensitive: options.Sensitive,
    public: options.Public,
    *,
    useful: options.Useful = None,
    counting: options.CountingPersons,
    opening: options.Opening,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """What the columns hold, what publishing them would give away, and what the limit says."""
    from privacyfunnel.metrics.stakes import stakes
    from privacyfunnel.releases.cautions import about_table
    from privacyfunnel.report import words
    from privacyfunnel.report.inspection import in_words, sizes
    from privacyfunnel.tables import count, identifiers, summary

    counted = counting.arguments()  # which refuses what cannot be read, before the work
    opened = opening.open(table)
    counts = count(
        opened,
        read_columns(sensitive),
        read_columns(public),
        useful=read_columns(useful or ()),
        **counted,
    )
    names = list(counts.roles.columns)
    columns = {column.name: column for column in summary(opened, names)}
    at_stake = stakes(counts.joint(), persons=counts.persons, seed=seed)
    marked = [n for n in identifiers(opened, names) if counts.roles.columns[n].rule is None]
    cautions = about_table(at_stake, counts.roles, marked)
    if as_json:
        found = _document(table, counts, columns, at_stake, cautions, marked)
        typer.echo(json.dumps(found, indent=1, allow_nan=False))  # all of it in ASCII
        return
    _print_columns(counts, columns)
    say("\n" + "\n".join(sizes(counts.roles, at_stake)) + "\n")
    for line in in_words(counts.roles, at_stake):
        say(line)
    _print_use(counts)
    for caution in cautions:
        say(f"\nWarning, {caution.about}. {words.caution(asdict(caution), HINTS)}")


def _document(
    table: str,
    counts: Counts,
    columns: dict[str, ColumnSummary],
    at_stake: Stakes,
    cautions: list[Caution],
    marked: list[str],
) -> dict[str, Any]:
    from privacyfunnel.releases.document import column_words

    def described(role: Any) -> list[dict[str, Any]]:
        return [
            column_words(column)
            | {"missing": columns[column.name].missing, "distinct": columns[column.name].distinct}
            | {"identifier": column.name in marked}
            for column in role
        ]

    return {
        "format": "privacyfunnel inspection",
        "version": VERSION,
        "table": table,
        "rows": counts.n_rows,
        "persons": counts.persons and counts.persons.n_persons,
        "left_out": counts.n_dropped,
        "weight": counts.roles.weight,
        "sensitive": described(counts.roles.sensitive),
        "public": described(counts.roles.public),
        "stakes": at_stake.to_json(),
        "use": _use(counts),
        "cautions": [asdict(caution) for caution in cautions],
    }


def _use(counts: Counts) -> dict[str, Any] | None:
    """What the public columns say about what the release is for."""
    use = counts.joint().useful
    if use is None:
        return None
    return {
        "columns": [column.name for column in counts.useful],
        "entropy_bits": use.entropy_s,
        "information_bits": use.information,
    }


def _print_use(counts: Counts) -> None:
    from privacyfunnel.information import share
    from privacyfunnel.report.numbers import bits, listed, percent

    use = _use(counts)
    if use is not None:
        told = share(use["information_bits"], use["entropy_bits"])
        say(
            f"For its use: the public columns tell {bits(use['information_bits'])} of the "
            f"{bits(use['entropy_bits'])} there are about {listed(use['columns'])}, {percent(told)}. "
            "That is what a release for it can keep."
        )


def _print_columns(counts: Counts, columns: dict[str, ColumnSummary]) -> None:
    from privacyfunnel.columns import KINDS
    from privacyfunnel.releases.document import column_words
    from privacyfunnel.report.escape import visible
    from privacyfunnel.report.numbers import number, several

    left_out = f", {number(counts.n_dropped)} left out" if counts.n_dropped else ""
    whose = "" if counts.persons is None else f" of {several(counts.persons.n_persons, 'person')}"
    say(f"{several(counts.n_rows, 'row')}{whose}{left_out}.\n")
    roles = counts.roles
    width = min(40, max(6, *(len(visible(name)) for name in columns)))
    say(f"{'column':<{width}}  {'role':<9}  {'distinct':>9}  {'missing':>9}  kind")
    for role, members in (("sensitive", roles.sensitive), ("public", roles.public)):
        for column in members:
            found, rule = columns[column.name], column_words(column)["coarsened"]
            kind = KINDS[column.kind].words + (f", {rule}" if rule else "")
            say(
                f"{visible(column.name):<{width}}  {role:<9}  {number(found.distinct):>9}  "
                f"{number(found.missing):>9}  {kind}"
            )
