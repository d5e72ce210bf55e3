"""Everything that can go wrong, in one tree.

    FunnelError
    ├── InvalidInput        (also ValueError)  an argument that makes no sense
    │   ├── InvalidJoint                       counts or probabilities that are no distribution
    │   ├── InvalidCode                        a partition or channel that does not fit the joint
    │   ├── TargetUnreachable                  no release meets the target; the message names the nearest
    │   └── TooLarge                           more than fits into memory; refused before it is tried
    ├── UnknownSymbol       (also KeyError, ValueError)  a value that the code has never seen
    └── DataUnavailable     (also OSError)     a file or download that cannot be had

A message says what was wrong, what we got and what to do about it, on one line.
"""


class FunnelError(Exception):
    """Root of all errors that this package raises on purpose."""


class InvalidInput(FunnelError, ValueError):
    """An argument that makes no sense."""


class InvalidJoint(InvalidInput):
    """Counts or probabilities that are not a joint distribution."""


class InvalidCode(InvalidInput):
    """A partition or channel that does not fit."""


class TargetUnreachable(InvalidInput):
    """No release meets the target; the message names the nearest that can be met."""


class TooLarge(InvalidInput):
    """More than fits into memory; the message says how much it would need."""


class UnknownSymbol(FunnelError, KeyError, ValueError):
    """A value that the code has never seen."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0]) if self.args else ""


class DataUnavailable(FunnelError, OSError):
    """A file or a download that cannot be had."""
