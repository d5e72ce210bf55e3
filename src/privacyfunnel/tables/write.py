"""Writing: one join in the engine takes the code to the rows, and the file is checked after."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.codebook.output import NUMBERS, RELEASED, SUPPRESSED
from privacyfunnel.columns import Column, check_never_missing, literal
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.errors import DataUnavailable, InvalidInput, UnknownSymbol
from privacyfunnel.files import FORMATS, atomic_path
from privacyfunnel.tables.connection import connect
from privacyfunnel.tables.engines.duckdb import OPTIONS
from privacyfunnel.tables.join import Join
from privacyfunnel.tables.open import open_table
from privacyfunnel.tables.paths import listed_sql
from privacyfunnel.tables.recoded_join import RecodedJoin
from privacyfunnel.validation import check_choice

if TYPE_CHECKING:
    from privacyfunnel.codebook import Codebook


@dataclass(frozen=True)
class Released:
    """What was written: where, how many rows, and how many of each label, as read back."""

    path: Path
    n_rows: int  # rows of the table
    n_released: int  # rows written
    n_dropped: int  # rows left out for a missing value, under missing="drop"
    n_suppressed: int  # rows whose value the codebook does not cover, under unseen="suppress"
    counts: dict[str, int]


def write_release(
    table: Any,
    codebook: Codebook,
    output: str | Path,
    *,
    expand: bool = False,
    keep: str | Sequence[str] = (),
    unseen: str = "error",
    fmt: str | None = None,
    key: str | None = None,
    numbers: str = "label",
    ordered: bool = True,
    shuffle: bool = False,
    force: bool = False,
) -> Released:
    """Write the released symbol of every row to Parquet or CSV.

    ``expand`` adds, per public column, what the symbol stands for; ``keep`` passes columns through
    as they are, unprotected. A value that the codebook has not seen is an error, or is released
    as "suppressed", and so is a label that would go out with fewer records than the codebook
    promises. A soft code draws by ``key``, a column that names the row, so that a record keeps its
    draw in every table; without one each table has draws of its own. ``ordered`` keeps the order of
    the rows; without it all cores write. ``shuffle`` writes them in an order that nobody can tell the
    table's from: where rows were left out, order tells which.

    A readable codebook writes the public columns under their own names, groups in place of values,
    ``*`` for what is suppressed. ``numbers`` "bounds" adds the bounds of groups of numbers and dates
    in two more columns each, "mean" writes the mean of the records in a group in place of its label.

    >>> import tempfile, pandas as pd, privacyfunnel as pf
    >>> from privacyfunnel.codebook import Codebook
    >>> from privacyfunnel.tables import count
    >>> table = pd.DataFrame({"sick": [0, 0, 1, 1], "city": ["Bonn", "Rom", "Rom", "Pisa"]})
    >>> counted = count(table, "sick", "city")
    >>> solution = pf.solve(counted.joint(), pf.Funnel(0.4), method="exhaustive")
    >>> book = Codebook.from_solution(counted.joint(), solution, counted.roles)
    >>> place = Path(tempfile.mkdtemp()) / "release.csv"
    >>> write_release(table, book, place).counts, place.read_text().split()
    ({'r1': 2, 'r2': 2}, ['released', 'r1', 'r2', 'r2', 'r1'])
    """
    check_choice("unseen", unseen, ("error", "suppress"))
    output = Path(output)
    fmt = fmt or output.suffix.lower().lstrip(".")
    if fmt not in FORMATS:
        raise InvalidInput(f"a release is written as .parquet or .csv, not as {output.name!r}.")
    opened = open_table(table)
    if any(output.exists() and output.samefile(file) for file in opened.files):
        raise InvalidInput(f"{output} is the table itself, which is never changed; name another.")
    keep = [keep] if isinstance(keep, str) else list(keep)
    suppress = unseen == "suppress"
    check_choice("numbers", numbers, NUMBERS)
    if codebook.columns and expand:
        raise InvalidInput("a readable release says what its groups stand for; leave expand out.")
    kind = RecodedJoin if codebook.columns else Join
    join = kind.of(
        opened, codebook, expand=expand, keep=keep, suppress=suppress, key=key, numbers=numbers
    )
    with atomic_path(output, force) as part:
        try:
            done = _write(join, part, output, fmt, ordered)
            if shuffle:
                shuffle_rows(part, fmt)
            return done
        except DataUnavailable as error:  # say the name that the user knows
            raise DataUnavailable(str(error).replace(str(part), str(output))) from error


def _write(join: Join, part: Path, output: Path, fmt: str, ordered: bool) -> Released:
    table, book = join.table, join.book
    if join.key is not None and book.soft:
        key = Column(join.key, table.kind(join.key))
        check_never_missing("key", join.key, table.count_missing([key]))
    join = join.without_rare()
    table.write_join(join, part, fmt, ordered)
    found = _read_back(join, part, fmt)
    if book.soft and book.min_count > 1:
        join = join.after_draw(found)
        if join.rare:  # the same draws once more
            table.write_join(join, part, fmt, ordered)
            found = _read_back(join, part, fmt)
    unknown = table.commonest_unknown(join) if found.get(None) else None
    if unknown is not None:
        raise UnknownSymbol(f"{book.unknown(*unknown)}.", hint="unseen")
    n_dropped, n_released = table.count_missing(join.required), sum(found.values())
    wanted = table.n_rows - n_dropped
    if n_released != wanted or None in found:
        raise RuntimeError(f"{wanted} rows went in, but {n_released} came out.")
    if isinstance(join, RecodedJoin):
        n_suppressed, counts = join.n_suppressed, join.counts
    else:
        n_suppressed = found.get(SUPPRESSED, 0)
        counts = {label: found[label] for label in book.labels if label in found}
    return Released(output, table.n_rows, n_released, n_dropped, n_suppressed, counts)


def shuffle_rows(path: Path, fmt: str) -> None:
    """Bring the rows of a written file into a random order, by a secret that is thrown away."""
    if path.is_dir():
        raise InvalidInput("rows on a cluster cannot be shuffled here; shuffle the frame itself.")
    with connect() as con, atomic_path(path, force=True) as part:
        as_text = "all_varchar=true, allow_quoted_nulls=false, strict_mode=true"
        source = _written(path, fmt, as_text)
        order = f"md5({literal(secrets.token_hex(16))} || CAST(row_number() OVER () AS VARCHAR))"
        rows = f"SELECT *, {order} AS funnel_order FROM {source}"
        con.execute(
            f"COPY (SELECT * EXCLUDE funnel_order FROM ({rows}) ORDER BY funnel_order) "
            f"TO {literal(str(part))} ({OPTIONS[fmt]})"
        )


def _read_back(join: Join, part: Path, fmt: str) -> dict[Any, int]:
    """How often each label stands in a written file, or a folder of such files; readable rows as one.

    A csv is read as text, in as many columns as were written, the first by its name.
    """
    names = (RELEASED, *map(str, range(1, len(join.names))))
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    source = _written(part, fmt, f"auto_detect=false, columns={{{columns}}}")
    label = "''" if isinstance(join, RecodedJoin) else RELEASED
    with connect() as con:
        return dict(con.execute(f"SELECT {label}, count(*) FROM {source} GROUP BY 1").fetchall())


def _written(part: Path, fmt: str, columns: str) -> str:
    """The SQL of a written file, or of a folder of such files; of a csv with how columns are read."""
    listed = listed_sql(sorted(part.glob(f"*.{fmt}")) if part.is_dir() else [part])
    return {
        "parquet": f"read_parquet({listed})",
        "csv": f"read_csv({listed}, delim=',', quote='\"', escape='\"', header=true, skip=0, "
        f"comment='', new_line='\\n', nullstr={literal(WRITTEN)}, {columns})",
    }[fmt]
