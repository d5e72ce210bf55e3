"""Files: written beside their place under another name and moved there when whole."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privacyfunnel.errors import DataUnavailable, InvalidInput


@contextmanager
def atomic_path(path: str | Path, force: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path``, moved there when the block ends well, else removed.

    What is written may be a file or a folder. A run that is killed leaves at most a hidden
    ``.part`` file. An existing target is replaced only with ``force``.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "greeting.txt"
    >>> with atomic_path(place) as part:
    ...     _ = part.write_text("hello")
    >>> place.read_text(), [p.name for p in place.parent.iterdir()]
    ('hello', ['greeting.txt'])
    """
    path = Path(path)
    check_target(path, force)
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        yield part
        _sync(part)
        check_target(path, force)  # it may have come into being meanwhile
        _move(part, path)
    except OSError as error:
        if isinstance(error, DataUnavailable):
            raise
        raise DataUnavailable(f"cannot write {path}: {in_words(error)}.") from error
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


def check_target(path: Path, force: bool) -> None:
    """Refuse a path that cannot be written: it exists, or there is no folder for it or no right."""
    try:
        exists = path.exists() or path.is_symlink()
    except OSError as error:
        raise DataUnavailable(f"cannot write {path}: {in_words(error)}.") from error
    if exists and not force:
        raise InvalidInput(f"{path} exists.", hint="replace")
    parent = path.parent
    if not parent.exists():
        raise DataUnavailable(f"cannot write {path}: there is no folder {parent}.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise DataUnavailable(f"cannot write {path}: no permission in {parent}.")


def _sync(part: Path) -> None:
    if part.is_file():
        with part.open("rb") as file:
            os.fsync(file.fileno())


def _move(part: Path, path: Path) -> None:
    if path.is_dir() and not path.is_symlink():  # a folder cannot be replaced in one step
        aside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
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
