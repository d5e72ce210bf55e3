"""Private folder: where a studio keeps what it is given; after a kill the next studio removes it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import gettempdir, mkdtemp

if sys.platform != "win32":
    import fcntl

PREFIX = "funnel-studio-"
LOCK = ".lock"  # holds the names of folders elsewhere that go with this one


class PrivateFolder:
    """A folder that only its owner can read, held by a lock for as long as its process lives.

    The system takes the lock away when a process ends, however it ends. A folder whose lock is free
    was left behind by a studio that was killed, and goes when the next one starts. (Windows has no
    such lock: there a killed studio's folder stays until the system clears its temporary files.)

    >>> from contextlib import closing
    >>> with closing(PrivateFolder()) as folder:
    ...     oct(folder.path.stat().st_mode & 0o777)
    '0o700'
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        remove_orphans(Path(gettempdir()))
        # Locked first and named then, so that no other studio takes it for an orphan in between.
        new = Path(mkdtemp(prefix=f".{PREFIX}"))
        self._lock = (new / LOCK).open("w")
        if sys.platform != "win32":
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = new.rename(new.with_name(new.name[1:]))

    def goes_with(self, other: Path) -> None:
        """Note a temporary folder beside this one that a kill would leave behind too."""
        self._lock.write(f"{other.name}\n")
        self._lock.flush()

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def remove_orphans(parent: Path) -> None:
    """Remove the folders of studios that were killed; those of others and of the living stay."""
    if sys.platform == "win32":
        return
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for name in lock.read().split():
                    shutil.rmtree(parent / Path(name).name, ignore_errors=True)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its studio lives, or it is none of ours
            continue
