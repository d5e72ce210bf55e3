"""Dask: a sweep, or a local recoding, on a cluster gives what it gives here."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from privacyfunnel import Funnel, Joint, frontier, solve
from privacyfunnel.parallel import in_parallel

pytestmark = [
    pytest.mark.dask,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def sweep(joint):
    lams = np.linspace(0, 1, 9)
    return Parallel()(
        delayed(solve)(joint, Funnel(lam), method=method, seed=1)
        for lam in lams
        for method in ("greedy", "iac-mdsf")
    )


def test_a_sweep_on_dask_equals_the_serial_one(client):
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.integers(0, 5, size=(6, 20)))
    with parallel_config("sequential"):
        here = sweep(joint)
    with parallel_config("dask"):
        there = sweep(joint)
    for ours, theirs in zip(here, there, strict=True):
        assert ours.code == theirs.code
        assert (ours.leakage, ours.utility) == (theirs.leakage, theirs.utility)
        assert ours.history == theirs.history


def test_a_frontier_on_dask_equals_the_serial_one(client):
    joint = Joint.from_counts(np.random.default_rng(1).integers(0, 5, size=(5, 12)))
    here = frontier(joint, n_points=4, seed=0).to_frame()
    with parallel_config("dask"):
        there = frontier(joint, n_points=4, seed=0).to_frame()
    assert here.equals(there)


def test_local_recodings_on_dask_equal_the_serial_ones(client):
    pairs = [(a, b) for a in range(6) for b in "xyz"]
    counts = np.random.default_rng(2).integers(1, 9, size=(3, len(pairs)))
    joint = Joint.from_counts(counts, labels_x=pairs, columns=["a", "b"])
    asked = {"recoding": "local", "n_points": 4, "moves": 100_000, "seed": 0}
    here = frontier(joint, **asked)
    with parallel_config("dask"):
        there = frontier(joint, **asked)
    assert here.to_frame().equals(there.to_frame())
    assert [s.code for s in here.solutions] == [s.code for s in there.solutions]


def test_tasks_run_on_the_workers(client):
    with parallel_config("dask"):
        ran = in_parallel(os.getpid, [()] * 4)
    assert os.getpid() not in ran
    assert set(ran) <= set(client.run(os.getpid).values())
