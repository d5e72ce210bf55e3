"""Processes that all calls share: one that is given up leaves the others in peace."""

import os
import subprocess
import sys
import time
import warnings
from contextlib import closing

import numpy as np
import pytest

from privacyfunnel.errors import InvalidInput
from privacyfunnel.parallel import as_they_come, check_jobs, in_parallel


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(n_jobs, threads):
    ticks, tasks = [], [(k, 3) for k in range(20)]
    found = in_parallel(divmod, tasks, n_jobs, lambda: ticks.append(1), threads=threads)
    assert found == [divmod(k, 3) for k in range(20)]
    assert len(ticks) == 20


def test_threads_share_this_process():
    assert set(in_parallel(os.getpid, [()] * 8, 2, threads=True)) == {os.getpid()}


@pytest.mark.parametrize("n_jobs", [0, True, 1.5])
def test_a_number_of_processes_is_checked(n_jobs):
    with pytest.raises(InvalidInput, match="n_jobs"):
        in_parallel(divmod, [(1, 2)], n_jobs)


FORGOTTEN = """
from privacyfunnel.parallel import in_parallel
import time

def fails():
    raise KeyError

def given_up():
    try:
        in_parallel(time.sleep, [(0.01,)] * 40, 2, fails)
    except KeyError as error:
        return error

errors = [given_up()]  # and with it all that was going on
seen = []

def forget():
    errors.clear()
    seen.append(1)

in_parallel(time.sleep, [(0.01,)] * 40, 2, forget)
print(len(seen))
"""


@pytest.mark.slow
def test_a_call_that_failed_does_not_end_the_processes_of_the_next():
    done = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "40\n", "")


def test_what_is_not_taken_is_given_up_in_silence():
    with warnings.catch_warnings(), closing(as_they_come(time.sleep, [(0.05,)] * 20, 2)) as coming:
        warnings.simplefilter("error")
        assert next(coming) is None


def test_a_number_of_processes_may_be_of_numpy():
    assert in_parallel(divmod, [(7, 2)], np.int64(1)) == [(3, 1)]
    assert type(check_jobs(np.int64(2))) is int
