"""Files: written beside their place under another name and moved there when whole."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from zlib import crc32

import psutil

from privacyfunnel.errors import DataUnavailable, InvalidInput

FORMATS = ("parquet", "csv")  # in which a table is written


@contextmanager
def atomic_path(path: str | Path, force: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path``, moved there when the block ends well, else removed.

    What is written may be a file or a folder. A run that is killed leaves at most a hidden
    ``.part`` file, which the next one removes. An existing target is replaced only with ``force``.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "greeting.txt"
    >>> with atomic_path(place) as part:
    ...     _ = part.write_text("hello")
    >>> place.read_text(), [p.name for p in place.parent.iterdir()]
    ('hello', ['greeting.txt'])
    """
    path = Path(path)
    check_target(path, force)
    for left in left_behind(path.parent, path.name):
        _remove(left)
    part = part_beside(path.parent, path.name)
    try:
        with as_unavailable(f"cannot write {path}"):
            yield part
            if part.is_file():
                with part.open("rb") as file:
                    os.fsync(file.fileno())
            check_target(path, force)  # it may have come into being meanwhile
            _move(part, path)
    finally:
        _remove(part)


def write_text(
    path: str | Path, text: str, force: bool = False, *, is_private: bool = False
) -> None:
    """Write a whole text file, or none; a private one can be read by its owner only.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "greeting.txt"
    >>> write_text(place, "hello")
    >>> write_text(place, "again")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    privacyfunnel.errors.InvalidInput: ...greeting.txt exists; use force=True to replace it.
    """
    with atomic_path(path, force) as part:
        mode = 0o600 if is_private else 0o666  # less what the user's umask takes away
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


def in_words(error: OSError) -> str:
    """What the system complained about, in one short phrase.

    >>> in_words(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full'
    """
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EACCES: "no permission",
        errno.EPERM: "no permission",
        errno.EROFS: "the disk is read-only",
        errno.ENOENT: "there is no such file or folder",
        errno.ENOTDIR: "part of the path is a file, not a folder",
        errno.EFBIG: "the file is too large",
        errno.ENAMETOOLONG: "the name is too long",
    }
    known = words.get(error.errno or 0)
    return known or (error.strerror or str(error).splitlines()[0]).lower().rstrip(".")


@contextmanager
def as_unavailable(what: str) -> Iterator[None]:
    """What the system complains about in the block is raised as DataUnavailable, after ``what``."""
    try:
        yield
    except DataUnavailable:
        raise
    except OSError as error:
        raise DataUnavailable(f"{what}: {in_words(error)}.") from error


def check_target(path: Path, force: bool) -> None:
    """Refuse a path that cannot be written: it exists, or there is no folder for it or no right."""
    with as_unavailable(f"cannot write {path}"):
        exists = path.exists() or path.is_symlink()
    if exists and not force:
        raise InvalidInput(f"{path} exists.", hint="replace")
    parent = path.parent
    if not parent.exists():
        raise DataUnavailable(f"cannot write {path}: there is no folder {parent}.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise DataUnavailable(f"cannot write {path}: no permission in {parent}.")


def run_mark() -> str:
    """A mark for names of temporary files, which says on which machine and in which process."""
    return f"{crc32(platform.node().encode()):08x}-{os.getpid()}-{secrets.token_hex(4)}"


def is_dead(mark: str) -> bool:
    """Whether the process that made a mark ran here and runs no more.

    >>> is_dead(run_mark()), is_dead("no mark")
    (False, False)
    """
    machine, _, rest = mark.partition("-")
    pid = rest.partition("-")[0]
    here = machine == f"{crc32(platform.node().encode()):08x}"
    return here and pid.isdecimal() and not psutil.pid_exists(int(pid))


def part_beside(folder: Path, name: str) -> Path:
    """A hidden name in a folder for what is to become ``name``."""
    return folder / f".{name[:180]}.{run_mark()}.part"


def left_behind(folder: Path, name: str) -> list[Path]:
    """Parts of ``name`` in a folder that runs which were killed have left."""
    start = f".{name[:180]}."
    parts = folder.glob(f"{escape(start)}*.part")
    return [part for part in parts if is_dead(part.name[len(start) : -len(".part")])]


def _move(part: Path, path: Path) -> None:
    if path.is_dir() and not path.is_symlink():  # a folder cannot be replaced in one step
        aside = part_beside(path.parent, path.name)
        os.replace(path, aside)
        os.replace(part, path)
        _remove(aside)
    else:
        os.replace(part, path)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)
