"""Upload limits: how much the studio takes from browsers."""

MEGABYTE = 1_000_000
MAX_UPLOAD = 200  # megabytes of a table, unless the studio is started with another
GUESTS_UPLOADS = 5  # times that, for all visitors without the token together
LEAST_FREE = 200 * MEGABYTE  # of the disk, for everybody else on this machine
MOST_FORM = MEGABYTE  # of a form; a thousand columns need a tenth of it
