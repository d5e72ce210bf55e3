"""Secret: what the draws of soft codes come from, kept in a file apart from the table.

Releases that share a secret and a key column give a record the same draw each time, so that averaging
over them tells nothing new; whoever has the secret can redo the draws.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import in_words, write_text

SHORTEST = 16  # characters; what can be guessed is no secret


def read_secret(path: str | Path) -> str:
    """The secret in a file; a file that does not exist yet gets a random one, for its owner only.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "secret.txt"
    >>> read_secret(place) == read_secret(place), len(read_secret(place))
    (True, 64)
    """
    path = Path(path).expanduser()
    if not path.exists():
        write_text(path, secrets.token_hex(32) + "\n", is_private=True)
    try:
        if not path.is_file():
            raise InvalidInput(f"{path} is no file; name one for the secret.")
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not a text file; name one for the secret.") from None
    except OSError as error:
        raise DataUnavailable(f"cannot read {path}: {in_words(error)}.") from error
    if len(text) < SHORTEST:
        raise InvalidInput(
            f"the secret in {path} has {len(text)} characters, and {SHORTEST} are the least; name a "
            "new file, and a random secret is put there."
        )
    return text
