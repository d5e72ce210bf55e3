"""Folder: several files that appear together or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import as_unavailable, atomic_path, left_behind, part_beside

OLD, PLACING = ".old", ".placing"  # inside the hidden folder: files replaced, and how far it is


@contextmanager
def together(
    folder: str | Path, names: Sequence[str], force: bool = False, *, instead_of: Sequence[str] = ()
) -> Iterator[Path]:
    """A hidden folder to write into; when the block ends well its files move to ``folder``.

    A folder that does not exist comes into being in one step. In one that does, files of these
    names are replaced only with ``force``, and those that they come ``instead_of`` (the same in
    another format) go too; its other files stay. Old and new ones never stand beside each other:
    what a killed run has left half moved, the next run moves on or back.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "new" / "out"
    >>> with together(place, ["a.txt"]) as work:
    ...     _ = (work / "a.txt").write_text("hello")
    >>> [p.name for p in place.iterdir()], [p.name for p in place.parent.iterdir()]
    (['a.txt'], ['out'])
    """
    folder = Path(folder).expanduser()
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    if missing:
        if not missing[-1].parent.is_dir():
            raise InvalidInput(f"cannot make {folder}: {missing[-1].parent} is a file.")
        with atomic_path(missing[-1]) as part:
            work = part / folder.relative_to(missing[-1])
            work.mkdir(parents=True)
            yield work
        return
    known = list(dict.fromkeys([*names, *instead_of]))
    for left in left_behind(folder, "funnel"):
        _recover(left, folder)
    check_folder(folder, known, force)
    part = part_beside(folder, "funnel")
    try:
        with as_unavailable(f"cannot write to {folder}"):
            part.mkdir()
            yield part
            check_folder(folder, known, force)  # another run may have been faster
            _move(part, folder, known)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_folder(folder: Path, names: Sequence[str], force: bool) -> None:
    """Refuse a folder that cannot take files of these names."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder for the results.")
    present = [name for name in names if os.path.lexists(folder / name)]
    if present and not force:
        raise InvalidInput(f"{folder / present[0]} exists.", hint="replace")
    blocked = [name for name in present if (folder / name).is_dir()]
    if blocked:
        raise InvalidInput(f"{folder / blocked[0]} is a folder; name another place.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataUnavailable(f"cannot write to {folder}: no permission.")


def _move(part: Path, folder: Path, names: Sequence[str]) -> None:
    """All files into place; if one cannot be moved, the old ones come back."""
    aside = part / OLD
    aside.mkdir()
    moved: list[str] = []
    try:
        for name in names:
            if os.path.lexists(folder / name):
                os.replace(folder / name, aside / name)
        (part / PLACING).touch()  # from here on a killed run is brought to its end
        for name in names:
            if (part / name).exists():
                os.replace(part / name, folder / name)
                moved.append(name)
    except BaseException:
        for name in moved:
            (folder / name).unlink(missing_ok=True)
        for old in aside.iterdir():
            os.replace(old, folder / old.name)
        raise


def _recover(part: Path, folder: Path) -> None:
    """End what a killed run has begun: new files into place if it had come so far, else old ones back."""
    with as_unavailable(f"cannot write to {folder}"):
        if (part / PLACING).exists():
            for new in part.iterdir():
                if new.name not in (OLD, PLACING):
                    os.replace(new, folder / new.name)
        elif (part / OLD).is_dir():
            for old in (part / OLD).iterdir():
                os.replace(old, folder / old.name)
    shutil.rmtree(part, ignore_errors=True)
