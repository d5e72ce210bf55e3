import json
import random
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
import reference
from conftest import random_joint
from privacyfunnel.errors import FunnelError, InvalidInput, TargetUnreachable
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.target import Target
from privacyfunnel.solvers.tradeoff import hull, undominated

COLUMNS = [
    "lam", "utility_bits", "leakage_bits", "utility", "leakage", "n_symbols", "limit", "gap"
]  # fmt: skip

# Leakage at utility of at least u, and relevance at rate of at most r, setting 1: floors to beat.
LEAKAGE = {
    0.20: 0.0205,
    0.255: 0.0315,
    0.29: 0.044,
    0.327: 0.056,
    0.376: 0.080,
    0.41: 0.104,
    0.446: 0.136,
}
RELEVANCE = {0.31: 0.385, 0.40: 0.475, 0.53: 0.600, 0.63: 0.690, 0.70: 0.750, 0.80: 0.814}


@pytest.fixture(scope="module", params=["funnel", "bottleneck"])
def front(request, settings_of_paper) -> pf.Frontier:
    return pf.frontier(settings_of_paper[1], request.param, n_points=12, effort="fast")


def test_a_frontier_is_pareto_and_measured(front):
    frame = front.to_frame()
    assert frame.columns.tolist() == COLUMNS
    assert (frame.utility.diff().dropna() > 0).all()
    assert (frame.leakage.diff().dropna() > 0).all()
    sign = 1 if front.problem == "funnel" else -1
    assert (sign * (frame.leakage - frame.limit) >= -1e-9).all()
    assert np.allclose(frame.gap, np.abs(frame.leakage - frame.limit), atol=1e-9)
    assert frame.lam.between(0, 1).all()
    for solution, row in zip(front, frame.itertuples(), strict=True):
        assert row.leakage_bits == pytest.approx(
            reference.leakage(front.joint, solution.code), abs=1e-9
        )
        assert row.utility_bits == pytest.approx(
            reference.utility(front.joint, solution.code), abs=1e-9
        )
    assert front.proved == (frame.gap == 0).tolist()
    assert any(front.proved)


@pytest.mark.parametrize("share", [0.0, 0.33, 0.8, 1.0])
def test_any_target_is_met(front, share):
    joint = front.joint
    if front.problem == "funnel":
        kept = front.at(utility=share)
        assert kept.utility >= share * joint.entropy_x - 1e-9
        safe = front.at(leakage=share)
        assert safe.leakage <= share * joint.entropy_s + 1e-9
    else:
        short = front.at(rate=share)
        assert short.utility <= share * joint.entropy_x + 1e-9
        wanted = share * joint.information / joint.entropy_s
        telling = front.at(relevance=wanted)
        assert telling.leakage >= wanted * joint.entropy_s - 1e-9


def test_a_target_is_never_worse_than_the_points(front):
    for solution in front.solutions[::3]:
        if front.problem == "funnel":
            found = front.at(utility=min(1.0, solution.utility / front.joint.entropy_x))
            assert found.leakage <= solution.leakage + 1e-9
        else:
            found = front.at(rate=min(1.0, solution.utility / front.joint.entropy_x))
            assert found.leakage >= solution.leakage - 1e-9


def test_the_funnel_beats_its_floors(settings_of_paper):
    joint = settings_of_paper[1]
    front = pf.frontier(joint, targets=[0.3], effort="fast")
    for utility, most in LEAKAGE.items():
        assert front.at(utility=utility).leakage / joint.entropy_s <= most
    for utility in np.arange(0.45, 0.96, 0.1):
        limit = pf.limits.least_leakage(joint, utility * joint.entropy_x) / joint.entropy_s
        assert front.at(utility=utility).leakage / joint.entropy_s <= limit + 0.005


def test_the_bottleneck_beats_its_floors(settings_of_paper):
    joint = settings_of_paper[1]
    front = pf.frontier(joint, "bottleneck", targets=[0.3], effort="fast")
    for rate, least in RELEVANCE.items():
        assert front.at(rate=rate).leakage / joint.entropy_s >= least


def test_the_number_of_processes_does_not_matter(settings_of_paper):
    joint = settings_of_paper[1]
    one, two = (
        pf.frontier(joint, n_points=4, effort="fast", n_jobs=n, seed=5).to_frame() for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize("method", ["greedy", "iac-mdsf", "pairwise"])
def test_other_methods_sweep_lambda_or_thresholds(settings_of_paper, method):
    front = pf.frontier(settings_of_paper[1], method=method, n_points=6)
    assert front.method == method
    assert front.at(utility=0.4).utility >= 0.4 * front.joint.entropy_x - 1e-9
    assert front.to_frame().utility.iloc[-1] == 1


@pytest.mark.parametrize(("problem", "method"), [("funnel", "soft"), ("bottleneck", "annealing")])
def test_soft_frontiers_are_never_worse_than_hard_ones(problem, method):
    joint = pf.Joint.from_counts(np.random.default_rng(0).integers(0, 4, size=(3, 13)))
    shares = [0.2, 0.4, 0.6, 0.8]
    soft = pf.frontier(joint, problem, method, targets=shares, effort="fast")
    hard = pf.frontier(joint, problem, targets=shares, effort="fast")
    sign = 1 if problem == "funnel" else -1
    soft_points, hard_points = soft.points, hard.points
    for utility, leak in hard_points[1:-1]:
        at = np.interp(utility, soft_points[:, 0], soft_points[:, 1])
        if problem == "funnel":
            at = soft.at(utility=utility / joint.entropy_x).leakage
        assert sign * (at - leak) <= 1e-2 if problem == "bottleneck" else at <= leak + 1e-9
    assert all(isinstance(s.code, (pf.Channel, pf.Partition)) for s in soft)


def test_soft_methods_say_what_they_take(settings_of_paper):
    joint = settings_of_paper[1]
    for options, message in [
        ({"method": "soft", "problem": "bottleneck"}, "use 'annealing'"),
        ({"method": "soft", "lams": [0.5]}, "neither lams= nor checkpoint="),
        ({"method": "soft", "min_count": 3}, "no setting 'min_count'"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            pf.frontier(joint, **options)


def test_best_sweeps_lambda_too_when_asked(settings_of_paper):
    seen = []
    front = pf.frontier(
        settings_of_paper[1],
        lams=[0.2, 0.8],
        effort="fast",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (2, 2)
    assert {0.2, 0.8} <= set(front.to_frame().lam.round(6))


def test_min_count_bounds_the_whole_frontier(settings_of_paper):
    joint = settings_of_paper[1]
    front = pf.frontier(joint, n_points=4, effort="fast", min_count=10)
    for solution in front:
        assert np.bincount(solution.code.labels, weights=joint.p_x * joint.total).min() >= 10 - 1e-9
    with pytest.raises(TargetUnreachable, match="nearest"):
        front.at(utility=0.9)


@pytest.mark.parametrize("counts", [[[2], [3]], [[1, 2, 3]], np.outer([1, 2], [1, 2, 3])])
def test_trivial_joints_have_trivial_frontiers(counts):
    joint = pf.Joint.from_counts(counts)
    for problem in ("funnel", "bottleneck"):
        frame = pf.frontier(joint, problem, n_points=3, effort="fast").to_frame()
        assert np.allclose(frame.leakage, 0)
        assert np.isfinite(frame.to_numpy()).all()


def test_a_killed_sweep_goes_on(settings_of_paper, tmp_path):
    joint, path = settings_of_paper[1], tmp_path / "sweep.jsonl"
    options = {"n_points": 4, "effort": "fast", "seed": 2}
    whole = pf.frontier(joint, **options).to_frame()

    class Killed(Exception):
        pass

    def kill(done: int, total: int) -> None:
        if done == 3:
            raise Killed

    with pytest.raises(Killed):
        pf.frontier(joint, checkpoint=path, progress=kill, **options)
    assert len(path.read_text().splitlines()) == 1 + 3
    seen = []
    resumed = pf.frontier(
        joint, checkpoint=path, progress=lambda done, total: seen.append(done), **options
    )
    assert seen[0] == 3
    pd.testing.assert_frame_equal(resumed.to_frame(), whole)
    again = pf.frontier(joint, checkpoint=path, **options)
    pd.testing.assert_frame_equal(again.to_frame(), whole)


def test_a_cut_off_line_is_skipped_with_a_warning(settings_of_paper, tmp_path):
    joint, path = settings_of_paper[1], tmp_path / "sweep.jsonl"
    options = {"n_points": 3, "effort": "fast"}
    whole = pf.frontier(joint, checkpoint=path, **options).to_frame()
    path.write_text(path.read_text()[:-40])
    with pytest.warns(UserWarning, match="cut off or damaged, skipped"):
        resumed = pf.frontier(joint, checkpoint=path, **options)
    pd.testing.assert_frame_equal(resumed.to_frame(), whole)
    with pytest.warns(UserWarning, match="cut off or damaged, skipped"):
        pf.frontier(joint, checkpoint=path, **options)


def test_the_checkpoint_of_another_table_is_refused(settings_of_paper, tmp_path):
    path = tmp_path / "sweep.jsonl"
    pf.frontier(settings_of_paper[1], n_points=1, effort="fast", checkpoint=path)
    with pytest.raises(InvalidInput, match="another table"):
        pf.frontier(settings_of_paper[2], n_points=1, effort="fast", checkpoint=path)
    path.write_text(json.dumps({"format": "else"}) + "\n")
    with pytest.raises(InvalidInput, match="not a checkpoint"):
        pf.frontier(settings_of_paper[1], n_points=1, effort="fast", checkpoint=path)


def test_bad_targets_are_refused(front):
    one, other = ("utility", "leakage") if front.problem == "funnel" else ("rate", "relevance")
    with pytest.raises(InvalidInput, match=f"exactly one target, {one} or {other}; got none"):
        front.at()
    with pytest.raises(InvalidInput, match=f"got {one} and {other}"):
        front.at(**{one: 0.5, other: 0.5})
    with pytest.raises(InvalidInput, match=r"lie in \[0, 1\]"):
        front.at(**{one: 1.5})
    wrong = "rate" if front.problem == "funnel" else "utility"
    with pytest.raises(InvalidInput, match=f"got {wrong}"):
        front.at(**{wrong: 0.5})
    if front.problem == "bottleneck":
        with pytest.raises(TargetUnreachable, match=r"X itself has 0\.854"):
            front.at(relevance=0.9)


def test_bad_sweeps_are_refused(settings_of_paper):
    joint = settings_of_paper[1]
    for options, message in [
        ({"problem": "tunnel"}, "problem must be one of"),
        ({"method": "magic"}, "method must be one of"),
        ({"targets": [1.5]}, r"a target must lie in \[0, 1\]"),
        ({"targets": []}, "at least one"),
        ({"method": "greedy", "lams": []}, "at least one"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"method": "greedy", "targets": [0.5]}, "goes with a method that meets targets"),
        ({"n_points": 0}, "n_points must be at least 1"),
        ({"n_points": 2.5}, "n_points must be a whole number"),
        ({"min_count": 1000}, "at most the number of records"),
        ({"min_count": 2.5}, "min_count must be a whole number"),
        ({"targets": 0.5}, "targets must be a list"),
        ({"targets": ["a"]}, "a target must lie in"),
        ({"targets": [0.5], "lams": [0.5]}, "lams= is given too"),
        ({"seed": None}, "seed must be a whole number"),
        ({"recoding": "global", "targets": []}, "at least one"),
        ({"recoding": "global", "targets": [-1.0]}, "a target must lie in"),
        ({"recoding": "global", "n_points": 0}, "n_points must be at least 1"),
        ({"recoding": "local", "min_count": 10_000}, "10000 records in each combination"),
        ({"recoding": "global", "min_count": 10_000}, "10000 records in each combination"),
    ]:
        with pytest.raises((InvalidInput, TargetUnreachable), match=message):
            pf.frontier(joint, **options)


def test_hulls_lie_below_or_above():
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    for problem, sign in (("funnel", 1), ("bottleneck", -1)):
        corners = points[hull(points, problem)]
        heights = np.interp(points[:, 0], corners[:, 0], corners[:, 1])
        assert (sign * (points[:, 1] - heights) >= -1e-12).all()


def test_millions_of_records_end():
    counts = [[845918, 971671, 1437643], [1778975, 145894, 1868087]]
    assert len(pf.frontier(pf.Joint.from_counts(counts), n_points=3, effort="fast")) >= 2


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
def test_the_unit_of_the_weights_does_not_matter(problem):
    counts = np.random.default_rng(0).integers(1, 50, size=(4, 14)).astype(float)
    name = "utility" if problem == "funnel" else "rate"
    found = []
    for total in (1e-10, 1.0, np.pi * 1e9, 1e15):
        joint = pf.Joint.from_counts(counts * (total / counts.sum()))
        front = pf.frontier(joint, problem, targets=[0.5], effort="fast")
        found.append([front.at(**{name: share}).leakage for share in (0.3, 0.8)])
    np.testing.assert_allclose(found, np.tile(found[0], (4, 1)), rtol=0.02, atol=1e-6)


@pytest.mark.parametrize(("share", "noise"), [(0.8, 1.06), (0.95, 1.01)])
def test_relabelling_moves_nothing_by_more_than_another_seed_does(share, noise):
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 30.0, size=(4, 60))) + 1

    def leakage(order: np.ndarray, seed: int) -> float:
        joint = pf.Joint.from_counts(counts[:, order])
        target = Target("funnel", "utility", share * joint.entropy_x)
        found = BestSearch().solve_at(joint, target, rng=np.random.default_rng(seed))
        return found.leakage

    relabelled = [leakage(rng.permutation(60), 0) for _ in range(3)]
    seeds = [leakage(np.arange(60), seed) for seed in range(3)]
    assert max(relabelled + seeds) < noise * min(relabelled + seeds)
    assert np.mean(relabelled) < (1.0 + noise) / 2.0 * np.mean(seeds)


def test_a_small_alphabet_has_codes_for_all_targets_at_once():
    joint = pf.Joint.from_counts(np.random.default_rng(3).integers(0, 30, size=(4, 14)) + 1)
    front = pf.frontier(joint, "bottleneck", n_points=3)
    assert len(front.archive) > len(front)
    for rate in (0.3, 0.55, 0.8):
        target = front.target({"rate": rate})
        found = front.at(rate=rate)
        best = min(target.price.of(*s.amounts) for s in front.archive)
        assert target.price.of(*found.amounts) <= best + 1e-12
    for effort, n in (("fast", 14), ("normal", 41), ("normal", 12)):
        counts = np.random.default_rng(4).integers(1, 9, size=(2, n))
        assert not BestSearch(effort).archive(pf.Joint.from_counts(counts), pf.Funnel(0.0))


def test_the_undominated_are_those_that_no_other_beats():
    points = np.random.default_rng(1).random((30, 2)).round(1)
    for problem, sign in (("funnel", 1), ("bottleneck", -1)):
        kept = points[undominated(points, problem)]
        better = [
            any(
                sign * (q[0] - p[0]) >= 0 and sign * (q[1] - p[1]) <= 0 and tuple(q) != tuple(p)
                for q in points
            )
            for p in points
        ]
        expected = {tuple(p) for p, beaten in zip(points, better, strict=True) if not beaten}
        assert {tuple(p) for p in kept} == expected
        assert len(kept) == len(expected)


def test_small_alphabets_are_searched_to_the_end_with_min_count_too():
    joint = pf.Joint.from_counts([[1, 55, 58, 39], [40, 0, 0, 0], [0, 0, 0, 1]])
    found = pf.solve(joint, pf.Funnel(0.516), min_count=59)
    assert found.value == pytest.approx(-0.27477, abs=1e-5)
    joint = pf.Joint.from_counts([[11, 48, 39, 54], [30, 36, 58, 44]])
    found = pf.frontier(joint, n_points=6, min_count=128).at(utility=0.5)
    assert found.code.labels.tolist() == [0, 1, 1, 0]


def test_what_is_proved_for_a_price_is_not_proved_for_a_target():
    joint = pf.Joint.from_counts([[16, 2, 4, 5, 4, 16], [17, 12, 1, 2, 7, 9]])
    proved = (Status.OPTIMAL, Status.AT_LIMIT)
    for method in ("quantizer", "exhaustive"):
        swept = pf.frontier(joint, "bottleneck", method, lams=np.linspace(0, 1, 21))
        for rate in np.linspace(0.1, 1.0, 10):
            best = pf.frontier(joint, "bottleneck", n_points=1).at(rate=rate)
            found = swept.at(rate=rate)
            assert best.status in proved
            if found.status in proved:
                assert found.leakage == pytest.approx(best.leakage, abs=1e-9)


def test_targets_of_recodings_come_in_any_order():
    joint = pf.Joint.from_counts(
        np.arange(1, 13).reshape(2, 6),
        labels_x=[(age, sex) for age in (20, 30, 40) for sex in "fm"],
        columns=["age", "sex"],
    )
    rule = {
        "recoding": "global",
        "min_count": 20,
        "suppress": 0.0,
    }  # which leaves no more than half
    one, other = (pf.frontier(joint, targets=t, **rule) for t in ([0.2, 1.0], [1.0, 0.2]))
    assert [s.kept for s in one] == [s.kept for s in other] == [pytest.approx(0.5)]


def test_proved_is_about_the_target():
    joint = pf.Joint.from_counts([[30, 36, 58, 44], [17, 49, 40, 1]])
    found = pf.frontier(joint, "bottleneck", n_points=6, min_count=110).at(rate=0.9)
    assert found.leakage == pytest.approx(0.0347028, abs=1e-6)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
def test_targets_of_small_alphabets_equal_enumeration(problem):
    rng = np.random.default_rng(5)
    for _ in range(12):
        joint = pf.Joint.from_counts(rng.integers(0, 30, size=(3, int(rng.integers(2, 7)))) + 1)
        least = int(rng.choice([1, max(2, int(0.3 * joint.total))]))
        codes = [pf.Partition(labels) for labels in reference.partitions(joint.n_x)]
        allowed = [
            (reference.leakage(joint, code), reference.utility(joint, code))
            for code in codes
            if joint.total * code.push(joint).p_x.min() >= least - 1e-6
        ]
        front = pf.frontier(joint, problem, targets=[0.5], effort="fast", min_count=least)
        names = ("utility", "leakage") if problem == "funnel" else ("rate", "relevance")
        for name in names:
            share = float(rng.random())
            if name == "relevance":
                share *= joint.information / joint.entropy_s
            target = front.target({name: share})
            best = min(target.price.of(*point) for point in allowed)
            if best == np.inf:
                with pytest.raises(TargetUnreachable):
                    front.at(**{name: share})
                continue
            found = front.at(**{name: share})
            assert target.price.of(found.leakage, found.utility) == pytest.approx(best, abs=1e-9)


def test_a_frontier_of_a_large_alphabet_has_no_gaps():
    """Where next to nothing leaks one code beats all below it; merged, it fills the gap."""
    rng = np.random.default_rng(3)
    shares, n = rng.beta(2.0, 2.0, 600), rng.integers(2, 20, 600)
    counts = rng.binomial(n, shares)
    joint = pf.Joint.from_counts(np.array([counts, n - counts]))
    points = pf.frontier(joint, n_points=4, effort="fast").points
    assert np.diff(points[:, 0]).max() <= 0.08 * joint.entropy_x
    assert (np.diff(points[:, 1]) > 0).all()


def test_no_leakage_keeps_what_perfect_privacy_keeps():
    joint = pf.Joint.from_counts(np.random.default_rng(0).integers(1, 10, size=(2, 12)))
    found = pf.frontier(joint, method="soft", n_points=3, effort="fast").at(leakage=0.0)
    assert found.leakage <= 1e-12
    assert found.utility >= pf.perfect_privacy(joint).utility - 1e-6
    assert found.utility > 0.5 * joint.entropy_x


def test_all_the_relevance_there_is_can_be_asked_for():
    joint = pf.Joint.from_counts(np.random.default_rng(1).integers(0, 9, size=(3, 20)) + 1)
    front = pf.frontier(joint, "bottleneck", n_points=3, effort="fast")
    found = front.at(relevance=joint.information / joint.entropy_s)
    assert found.leakage == pytest.approx(joint.information, abs=1e-9)


DAMAGES = {
    "cut": lambda data, rng: data[: rng.randrange(len(data))],
    "flipped": lambda data, rng: _flipped(data, rng.randrange(len(data)), 1 << rng.randrange(8)),
    "digit": lambda data, rng: re.sub(
        rb"\d", b"%d" % rng.randrange(10), data, count=rng.randrange(1, 200)
    ),
    "labels": lambda data, rng: data.replace(
        b'"labels": [', b'"labels": [%d, ' % rng.randrange(10**9)
    ),
}


def _flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.filterwarnings("ignore:.*skipped")
def test_a_damaged_checkpoint_is_used_or_refused_in_one_line(damage, tmp_path):
    joint = random_joint(np.random.default_rng(5), 4, 14)
    path, options = tmp_path / "sweep.jsonl", {"n_points": 3, "effort": "fast"}
    pf.frontier(joint, checkpoint=path, **options)
    whole, rng = path.read_bytes(), random.Random(damage)
    for _ in range(6):
        path.write_bytes(DAMAGES[damage](whole, rng))
        try:
            found = pf.frontier(joint, checkpoint=path, **options)
        except FunnelError:  # one line, as all of them
            continue
        assert all(solution.code.n_x == joint.n_x for solution in found)


def test_a_readable_code_that_is_known_is_taken_where_a_search_finds_none(monkeypatch):
    table = pd.DataFrame({"ill": [0, 1, 1, 0] * 10, "age": list(range(20, 30)) * 4})
    found = pf.frontier(pf.Joint.from_table(table, "ill", "age"), recoding="global", n_points=5)

    def fails(*_, **__):
        raise TargetUnreachable("no recoding was found.")

    monkeypatch.setattr("privacyfunnel.recodings.RecodingSearch.at", fails)
    taken = found.at(kept=0.4)
    assert taken.kept >= 0.4 - 1e-9
    assert taken.status is not Status.OPTIMAL  # which it was for another target
    with pytest.raises(TargetUnreachable, match="no recoding was found"):
        replace(found, solutions=()).at(kept=0.4)
