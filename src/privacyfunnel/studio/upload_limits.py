"""Upload limits: how much the studio takes from browsers, and what it says to who sends more."""

MEGABYTE = 1_000_000
MAX_UPLOAD = 200  # megabytes of a table, unless the studio is started with another
GUESTS_UPLOADS = 5  # times that, for all visitors without the token together
LEAST_FREE = 200 * MEGABYTE  # of the disk, for everybody else on this machine
MOST_FORM = MEGABYTE  # of a form; a thousand columns need a tenth of it


def in_megabytes(size: int) -> str:
    """A limit as people say it.

    >>> in_megabytes(50_000)
    '0.05 MB'
    """
    return f"{size / MEGABYTE:g} MB"


def too_large(most: int) -> str:
    """What is said of a table of more than so many bytes.

    >>> too_large(50_000)[:55]
    'The file is larger than the 0.05 MB that this studio ta'
    """
    return (
        f"The file is larger than the {in_megabytes(most)} that this studio takes; start it with "
        "a larger --max-upload, or use the command line."
    )
