"""Where compiled loops are kept: as numba does, else in a folder of this process alone.

Numba keeps them beside the source or under the user's home and refuses to compile where it may write to
neither, as in a read-only install that runs without a home. A folder that others may write to is
no place for compiled code, so this one is fresh and goes with the process.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numba


def _can_write(folder: Path) -> bool:
    """Whether the folder, or the nearest of its parents that exists, can be written to."""
    present = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return present.is_dir() and os.access(present, os.W_OK | os.X_OK)


_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
_usual = Path(__file__).parent / "__pycache__", Path(_home)
_own: TemporaryDirectory[str] | None = None
if not numba.config.CACHE_DIR and not any(map(_can_write, _usual)):
    _own = TemporaryDirectory(prefix="privacyfunnel-numba-")
    numba.config.CACHE_DIR = _own.name


def is_filled() -> bool:
    """Whether the loop that most searches run is kept there, compiled."""
    from privacyfunnel._kernels.moves import anneal

    line = anneal.py_func.__code__.co_firstlineno  # numba's names for what it keeps have it
    return any(Path(anneal.stats.cache_path).glob(f"moves.anneal-{line}.*.nbi"))
