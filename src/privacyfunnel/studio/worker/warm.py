"""Warm: what every task needs, loaded once in the helper from which their processes are forked.

Importing this module runs a very small search, so that the compiled loops are in memory too: a task
then starts in milliseconds instead of seconds.
"""

import duckdb
import pyarrow.parquet

import privacyfunnel as pf
from privacyfunnel.studio.worker import tasks

pf.datasets.load_demo()
_JOINT = pf.Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
pf.frontier(_JOINT, n_points=2, effort="fast").at(utility=0.5)

__all__ = ["duckdb", "pyarrow", "tasks"]
