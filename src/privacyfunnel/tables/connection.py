"""A DuckDB of our own: bounded memory, a private folder to spill to, errors in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns import literal
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import in_words, is_dead, run_mark

if TYPE_CHECKING:
    import duckdb

LONGEST = 300  # characters of a message; damaged data has values without end
SPILL = "privacyfunnel-"  # how names of folders begin that DuckDB spills to


def memory_bound(memory: str | None) -> str | None:
    """A bound such as ``2GB`` or ``512MB``, or None for DuckDB's own.

    >>> memory_bound("1.5 gb")
    '1.5GB'
    """
    if memory is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", str(memory), re.IGNORECASE)
    if not match or float(match[1]) == 0:
        raise InvalidInput(f"memory must look like 2GB or 512MB, got {memory!r}.")
    return match[1] + match[2].upper().replace("IB", "iB")


@contextmanager
def connect(memory: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh in-memory DuckDB that never fetches anything and spills to a folder of its own."""
    import duckdb

    _remove_spilled()
    with TemporaryDirectory(prefix=f"{SPILL}{run_mark()}-") as spill, _in_our_words(memory):
        config: dict[str, Any] = {
            "temp_directory": spill,
            "autoinstall_known_extensions": "false",
            # DuckDB 2.0 may wait for ever where a COPY is interrupted while another thread writes.
            "async_threads": 0,
        }
        if memory is not None:
            config["memory_limit"] = memory
        con = duckdb.connect(config=config)
        try:
            yield con
        finally:
            con.close()


@cache  # once in each process
def _remove_spilled() -> None:
    """Remove what runs that were killed have spilled to disk."""
    for left in Path(gettempdir()).glob(f"{SPILL}*"):
        if is_dead(left.name.removeprefix(SPILL)):
            rmtree(left, ignore_errors=True)


def shut_in(con: duckdb.DuckDBPyConnection, paths: Sequence[Path] = ()) -> None:
    """From here on no file but these is read or written, whatever the SQL of a view asks for."""
    files = ", ".join(literal(str(path)) for path in paths)
    inside = ", ".join(literal(str(path)) for path in paths if path.is_dir())
    con.execute(f"SET allowed_paths = [{files}]; SET allowed_directories = [{inside}]")
    con.execute("SET enable_external_access = false")


@contextmanager
def _in_our_words(memory: str | None) -> Iterator[None]:
    """Say the errors that a user's data or disk causes in one line; ours pass through."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if "offload" in str(error):
            raise DataUnavailable(
                f"memory is used up, and so is the disk for temporary files ({gettempdir()})."
            ) from error
        bound = f"the bound of {memory}" if memory else "this machine's memory"
        raise InvalidInput(f"{bound} is too small for this table.", hint="memory") from error
    except (duckdb.IOException, duckdb.PermissionException, duckdb.HTTPException) as error:
        raise DataUnavailable(first_line(error)) from error
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise InvalidInput(f"a value does not fit its column: {first_line(error)}") from error
    except duckdb.InvalidInputException as error:
        raise InvalidInput(first_line(error)) from error
    except (
        duckdb.SerializationException,
        duckdb.InternalException,
        duckdb.FatalException,
    ) as error:
        raise DataUnavailable(
            f"the data cannot be read and may be damaged: {first_line(error)}"
        ) from error
    except duckdb.NotSupportedError as error:
        raise InvalidInput(f"a column's type cannot be read: {first_line(error)}") from error
    except (duckdb.InterruptException, RuntimeError) as error:
        if "interrupt" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error  # DuckDB reports Ctrl-C as an error of its own
    except duckdb.Error as error:
        if type(error) is not duckdb.Error:
            raise
        raise DataUnavailable(f"the data is damaged: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """DuckDB's message in one line, without the name of its class, ending in a full stop.

    >>> first_line(Exception("IO Error: Cannot open file\\nPossible solution: ..."))
    'cannot open file.'
    >>> first_line(Exception("Conversion Error: CSV Error on Line: 3\\nOriginal Line: a\\nBad value"))
    'line 3: bad value.'
    >>> first_line(Exception('IO Error: {"exception_message":"No space left", "errno":"28"}'))
    'the disk is full.'
    >>> len(first_line(Exception("Conversion Error: could not convert " + "0" * 30_000)))
    304
    """
    refused = re.search(r'"errno":\s*"(\d+)"', str(error))
    if refused:
        which = re.search(r'Could not (\w+) (?:to )?file \\?"([^"\\]+)', str(error))
        place = f"cannot {which[1]} {which[2]}: " if which else ""
        return f"{place}{in_words(OSError(int(refused[1]), 'the system refused'))}."
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = re.sub(r"^[\w ]+ Error: ", "", lines[0]) if lines else type(error).__name__
    in_csv = re.fullmatch(r"CSV Error on Line: (\d+)", line)
    if in_csv and len(lines) > 2:  # the second line repeats the row, the third says what is wrong
        line = re.sub(r'^Error when converting column "c\d+"\. ', "", lines[2])
    line = line.rstrip(".:")
    line = line[:1].lower() + line[1:] if line[1:2].islower() else line
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    return f"line {in_csv[1]}: {line}." if in_csv else f"{line}."
