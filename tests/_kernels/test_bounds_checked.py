"""Compiled loops read and write without checks; here they run with them."""

import os
import subprocess
import sys

SEARCHES = """
import numpy as np
import privacyfunnel as pf
from privacyfunnel.solvers.large.blocks import LargeRun, BlockSearch
from privacyfunnel.solvers.moves import JointLayout

heavy, light = [4000, 0, 2000, 2000], [1, 0, 2, 1] * 4
joint = pf.Joint.from_counts([heavy + light, heavy[::-1] + light])
for objective in (pf.Funnel(0.2), pf.Bottleneck(0.8)):
    pf.solve(joint, objective, effort="fast")
    search = BlockSearch(JointLayout(joint), objective.problem, objective.weights)
    search.from_scratch(LargeRun(10, 8), np.random.default_rng(0))
pf.frontier(joint, targets=[0.2], effort="fast").at(leakage=0.01)
"""


def test_searches_stay_within_their_arrays(tmp_path):
    # Unoptimised: the checks are the same and compile in two thirds of the time.
    wanted = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    checked = {**os.environ, **wanted}
    done = subprocess.run(
        [sys.executable, "-c", SEARCHES], env=checked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
