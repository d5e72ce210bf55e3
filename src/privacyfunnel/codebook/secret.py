"""Secret: what the draws of soft codes come from, kept in a file apart from the table.

Releases that share a secret and a key column give a record the same draw each time, so that averaging
over them tells nothing new; whoever has the secret can redo the draws.
"""

from __future__ import annotations

from pathlib import Path

from privacyfunnel.codebook.draws import check_secret, make_salt
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import in_words, write_text


def read_secret(path: str | Path) -> str:
    """The secret in a file; a file that does not exist yet gets a random one, for its owner only.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "secret.txt"
    >>> read_secret(place) == read_secret(place), len(read_secret(place))
    (True, 64)
    """
    path = Path(path).expanduser()
    if not path.exists():
        write_text(path, make_salt() + "\n", is_private=True)
    try:
        if not path.is_file():
            raise InvalidInput(f"{path} is no file; name one for the secret.")
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not a text file; name one for the secret.") from None
    except OSError as error:
        raise DataUnavailable(f"cannot read {path}: {in_words(error)}.") from error
    return check_secret(text, f"name another file than {path}, and a random one is put there")
