"""Dask: a sweep on a cluster gives what it gives here."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from privacyfunnel import Funnel, Joint, frontier, solve

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
