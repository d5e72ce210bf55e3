"""Searches by any measure, for any use: what is priced is what is measured, small cases are exact."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition, frontier, solve
from privacyfunnel._kernels.measured import fill_measured, slots_for, told_after
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.limits import limit
from privacyfunnel.measures import make_measure
from privacyfunnel.objectives import View
from privacyfunnel.solvers import SOLVERS
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.measured_layout import MeasuredLayout
from privacyfunnel.solvers.moves import anneal, layout_for
from privacyfunnel.solvers.target import Price, Target

NAMES = [
    "shannon", "guessing", "chi-square", "total-variation", "maximal-leakage",
    "arimoto:0.5", "arimoto:2", "arimoto:3.5", "arimoto:40",
]  # fmt: skip
OTHERS = [name for name in NAMES if name != "shannon"]


def with_use(rng: np.random.Generator, n_s: int, n_x: int, n_y: int = 3) -> Joint:
    """A random joint with a use."""
    joint = random_joint(rng, n_s, n_x)
    masses = np.asarray(joint.counts.sum(axis=0)).ravel()
    given = rng.dirichlet(np.full(n_y, 0.5), size=joint.n_x)
    useful = np.array([rng.multinomial(int(m), p) for m, p in zip(masses, given, strict=True)]).T
    return Joint.from_counts(joint.counts, useful=useful)


def plain_amount(view: View, labels: np.ndarray) -> float:
    """What a partition tells, by the twin of the measure, as a sum that a price weighs."""
    p = view.joint.p_sx.toarray()
    p_vc = np.array([p[:, labels == c].sum(axis=1) for c in np.unique(labels)]).T
    if view.measure is None:
        return reference.mutual_information(np.diag(p_vc.sum(axis=0)))
    reading = reference.measure(view.measure.name, p_vc, view.measure.order)
    return view.measure.amount(reading, view.joint.p_s)


def views_of(joint: Joint, names: list[str]) -> MeasuredLayout:
    assert joint.useful is not None
    quantities = [((1.0, View(joint, make_measure(name))),) for name in names]
    quantities += [((1.0, View(joint.useful, make_measure("shannon"))),)]
    return MeasuredLayout(joint, (*quantities, ((1.0, View(joint, None)),)))


@pytest.mark.parametrize("whole", [True, False])
def test_clusters_and_their_changes_are_told_right(whole: bool):
    rng = np.random.default_rng(0)
    for _ in range(4):
        joint = with_use(rng, 5, 8)
        if not whole:
            useful = joint.useful.counts * 0.37
            joint = Joint.from_counts(joint.counts * 0.37, useful=useful)
        layout = views_of(joint, NAMES)
        columns, cells, views = layout.arrays
        labels = np.unique(rng.integers(0, 4, size=joint.n_x), return_inverse=True)[1]
        slots = slots_for(columns[3], len(layout.views), joint.n_x + 1)
        k, totals = fill_measured(columns, layout.weights, labels, views, slots)
        rest = np.array([view.at_rest for view in layout.views])
        rest[-1] = -np.log2(joint.total)
        amounts = [plain_amount(view, labels) for view in layout.views]
        assert totals / joint.total - rest == pytest.approx(amounts, abs=1e-9)
        assert layout.amounts(Partition(labels)) == pytest.approx(amounts, abs=1e-9)
        for x in range(joint.n_x):
            for goal in range(k):
                y = int(rng.choice(np.flatnonzero(labels == goal)))
                for other in (-1, y):
                    new = labels.copy()
                    new[x] = goal
                    new[other if other >= 0 else x] = labels[x] if other >= 0 else goal
                    if goal == labels[x]:
                        continue
                    changes = [
                        told_after(columns, cells, layout.weights, x, other, labels[x], v, views, slots)
                        + told_after(columns, cells, layout.weights, other, x, goal, v, views, slots)
                        - slots[4][v, labels[x]] - slots[4][v, goal]
                        for v in range(len(layout.views))
                    ]  # fmt: skip
                    after = [plain_amount(view, new) for view in layout.views]
                    expected = np.array(after) - amounts
                    assert np.array(changes) / joint.total == pytest.approx(expected, abs=1e-9)


class ByViews(MeasuredLayout):
    """The same layout without Shannon's own loop."""

    by_rows = False


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("keep", ["useful", "both"])
def test_row_weights_say_what_the_views_say(whole: bool, keep: str):
    rng = np.random.default_rng(9)
    for _ in range(5):
        joint = with_use(rng, 4, 12)
        if not whole:
            joint = Joint.from_counts(joint.counts * 0.37, useful=joint.useful.counts * 0.37)
        aim = Funnel(1.0, keep=keep)
        rows, views = (kind(joint, aim.quantities(joint)) for kind in (MeasuredLayout, ByViews))
        labels = rng.permutation(joint.n_x) % 4
        kept = 0.9 * aim.utility(joint, Partition(labels))
        for price in (Price((1.0, -1.0)), Price.keeping(kept)):
            assert rows.row_prices(price) is not None
            assert views.row_prices(price) is None
            assert (rows.swap(labels, price, 0.0) == views.swap(labels, price, 0.0)).all()
            cold = (np.array([[0.0, 3.0]] * 20), 0, 0.0, False)
            found = rows.anneal(labels, price, *cold, np.random.default_rng(0))
            assert aim.utility(joint, Partition(found)) >= min(kept, -price.limit[1]) - 1e-9
            told, kept_now = rows.amounts(Partition(found))
            before = price.of(*rows.amounts(Partition(labels)))
            assert price.of(told, kept_now) <= before + 1e-12


def of_all_partitions(view: View) -> np.ndarray:
    """What every partition tells: what X itself does, and what merging each cluster changes of that."""
    n = view.joint.n_x
    whole = plain_amount(view, np.arange(n))

    def merged(members: list[int]) -> float:
        labels = np.arange(n)
        labels[members] = members[0]
        return plain_amount(view, labels) - whole

    return whole + reference.of_all_partitions(merged, n)


@pytest.mark.parametrize("name", OTHERS)
def test_best_equals_all_partitions(name: str):
    """200 joints of up to 9 values, for λ and for exact targets, against the plain list of all codes."""
    rng = np.random.default_rng(1)
    for k in range(200 // len(OTHERS)):
        joint = random_joint(rng, int(rng.integers(2, 5)), 9 if k == 0 else int(rng.integers(2, 9)))
        lam = float(rng.random())
        problem = [Funnel, Bottleneck][int(rng.integers(2))]
        objective = problem(lam, measure=name)
        told, kept = (
            of_all_partitions(view) for view in (View(joint, make_measure(name)), View(joint, None))
        )
        alpha, beta = objective.weights
        for method in ("best", "exhaustive"):
            found = solve(joint, objective, method)
            assert found.value <= (alpha * told + beta * kept).min() + 1e-9
            assert found.value == pytest.approx(objective.value(joint, found.code), abs=1e-12)
        sign = alpha
        bits = float(rng.random() * joint.entropy_x)
        target = Target(objective.problem, "utility", bits, 1.0, objective.measure)
        allowed = sign * kept >= sign * bits - 1e-12
        at = BestSearch().solve_at(joint, target, rng=rng)
        assert sign * at.utility >= sign * bits - 1e-8
        assert sign * at.amounts[0] <= (sign * told[allowed]).min() + 1e-8
        bound = float(rng.random() * told.max())
        target = Target(objective.problem, "leakage", bound, 1.0, objective.measure)
        allowed = sign * told <= sign * bound + 1e-12
        at = BestSearch().solve_at(joint, target, rng=rng)
        assert sign * at.amounts[0] <= sign * bound + 1e-8
        assert sign * at.utility >= (sign * kept[allowed]).max() - 1e-8


@pytest.mark.parametrize("keep", ["useful", "both"])
def test_a_use_is_kept_as_well_as_can_be(keep: str):
    rng = np.random.default_rng(2)
    for _ in range(6):
        joint = with_use(rng, 3, int(rng.integers(2, 7)))
        objective = Funnel(float(2 * rng.random()), keep=keep)
        codes = [Partition(np.array(labels)) for labels in reference.partitions(joint.n_x)]
        least = min(objective.value(joint, code) for code in codes)
        assert solve(joint, objective).value == pytest.approx(least, abs=1e-9)
        y = plain_amount(View(joint.useful, make_measure("shannon")), codes[-1].labels)
        if keep == "useful":
            assert objective.utility(joint, codes[-1]) == pytest.approx(y, abs=1e-9)
        assert objective.whole_utility(joint) == pytest.approx(
            joint.useful.information if keep == "useful" else joint.entropy_x
        )


@pytest.mark.parametrize("name", ["guessing", "chi-square", "total-variation", "arimoto:2"])
def test_moves_come_to_the_optimum_beyond_the_reach_of_lists(name: str):
    rng = np.random.default_rng(3)
    for n_x in (13, 14):
        joint = random_joint(rng, 4, n_x)
        objective = Funnel(0.1, measure=name)
        least = solve(joint, objective, "exhaustive").value
        assert solve(joint, objective).value == pytest.approx(least, abs=1e-9)
        greedy = solve(joint, objective, "greedy")
        assert [step.value for step in greedy.history] == sorted(
            (step.value for step in greedy.history), reverse=True
        )
        assert greedy.history[-1].value == pytest.approx(greedy.value, abs=1e-9)
    joint = random_joint(rng, 4, 13)
    target = Target("funnel", "utility", 0.6 * joint.entropy_x, 1.0, make_measure(name))
    exact = ExhaustiveSearch().solve_at(joint, target, rng=rng)
    found = BestSearch().solve_at(joint, target, rng=rng)
    assert found.amounts[0] <= exact.amounts[0] + 1e-9


def test_limits_hold_while_moving():
    rng = np.random.default_rng(4)
    joint = with_use(rng, 4, 30)
    objective = Funnel(1.0, measure="guessing", keep="useful")
    layout = layout_for(joint, objective, least=3.0)
    bound = 0.5 * objective.whole_utility(joint)
    price = Price.keeping(bound)
    labels = anneal(layout, np.zeros(joint.n_x, dtype=np.int64), price, 50, rng)
    assert labels is not None
    assert objective.utility(joint, Partition(labels)) >= bound - 1e-9
    assert np.bincount(labels, weights=np.asarray(joint.counts.sum(axis=0))).min() >= 3.0


@pytest.mark.parametrize(
    "demand", [("guessing", "x"), ("shannon", "useful"), ("chi-square", "both")]
)
def test_a_frontier_meets_its_targets_and_stays_above_its_limit(demand):
    measure, keep = demand
    joint = with_use(np.random.default_rng(5), 3, 9)
    found = frontier(joint, measure=measure, keep=keep, n_points=5)
    frame = found.to_frame()
    assert frame.utility.iloc[-1] == pytest.approx(1.0)
    assert frame.leakage.is_monotonic_increasing
    assert (frame.leakage >= frame.limit - 1e-9).all()
    aim = found.aim
    at = found.at(utility=0.5)
    assert at.utility >= 0.5 * aim.whole_utility(joint) - 1e-9
    under = found.at(leakage=float(frame.leakage.iloc[-2]))
    assert under.leakage <= frame.leakage.iloc[-2] * aim.whole_leakage(joint) + 1e-9
    assert under.utility >= frame.utility_bits.iloc[-2] - 1e-9


def test_large_alphabets_are_searched_too():
    rng = np.random.default_rng(6)
    joint = with_use(rng, 3, 520)
    for objective in (Funnel(0.05, measure="guessing"), Funnel(0.3, keep="useful")):
        found = solve(joint, objective, effort="fast")
        assert found.value < min(
            objective.value(joint, Partition.trivial(joint.n_x)),
            objective.value(joint, Partition.identity(joint.n_x)),
        )
    target = Target("funnel", "utility", 0.5 * joint.entropy_x, 1.0, make_measure("guessing"))
    at = BestSearch("fast").solve_at(joint, target, rng=rng)
    assert at.utility >= 0.5 * joint.entropy_x - 1e-9
    assert at.leakage < 0.5 * make_measure("guessing")(joint.p_sx)


def test_what_a_measure_cannot_have_is_refused_in_words():
    joint = random_joint(np.random.default_rng(7), 3, 5)
    own = {name for name, kind in SOLVERS.items() if not getattr(kind, "any_measure", False)}
    assert own == {"iac-mdsf", "pairwise", "agglomerative", "quantizer", "soft", "annealing"}
    for method in own - {"pairwise", "agglomerative", "quantizer", "annealing"}:
        with pytest.raises(InvalidInput, match="Shannon's information"):
            solve(joint, Funnel(0.1, measure="guessing"), method)
    with pytest.raises(InvalidInput, match="needs a joint with a useful Y"):
        solve(joint, Funnel(0.1, keep="useful"))
    with pytest.raises(InvalidInput, match="keep= is for the funnel"):
        Bottleneck(0.1, keep="useful")
    with pytest.raises(InvalidInput, match=r"lam must lie in \[0, 1\]"):
        Funnel(1.5)
    assert Funnel(1.5, measure="chi-square").lam == 1.5
    joint = Joint.from_counts([[1, 2, 3], [4, 5, 1]])
    target = Target("funnel", "utility", joint.entropy_x, 1.0, make_measure("guessing"))
    with pytest.raises(TargetUnreachable, match="nearest has"):
        BestSearch(min_count=6).solve_at(joint, target, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="Shannon's information about S and X"):
        frontier(joint, measure="guessing", n_points="all")


@pytest.mark.parametrize("keep", ["x", "useful", "both"])
@pytest.mark.parametrize("name", NAMES)
def test_no_code_beats_the_limit(name: str, keep: str):
    rng = np.random.default_rng(8)
    for _ in range(5):
        joint = with_use(rng, 3, 6)
        for labels in list(reference.partitions(joint.n_x))[:: 1 + joint.n_x]:
            objective, code = Funnel(0.0, measure=name, keep=keep), Partition(np.array(labels))
            kept = objective.utility(joint, code)
            bound = limit(joint, "funnel", kept, measure=name, keep=keep)
            assert np.isnan(bound) or objective.leakage(joint, code) >= bound - 1e-9
        top = limit(joint, "bottleneck", 0.5, measure=name)
        assert objective.leakage(joint, code) <= max(
            top, limit(joint, "bottleneck", 9, measure=name)
        )


@pytest.mark.parametrize("order", [0.5, 2.0, 7.5, 11.9, 40.0])
def test_loops_tell_what_arimoto_tells_of_many_values(order: float):
    rng = np.random.default_rng(8)
    counts = np.diag(rng.zipf(1.5, 1000).clip(max=10**5)) + (rng.random((1000, 1000)) < 0.005)
    joint, measure = Joint.from_counts(counts), make_measure(f"arimoto:{order}")
    view = View(joint, measure)
    layout = MeasuredLayout(joint, (((1.0, view),),))
    columns, cells, views = layout.arrays
    slots = slots_for(columns[3], 1, joint.n_x + 1)
    labels = rng.permutation(joint.n_x) % 50
    _, totals = fill_measured(columns, layout.weights, labels, views, slots)
    amount = float(totals[0]) / joint.total - view.at_rest
    expected = measure(joint.p_sx @ Partition(labels).matrix)
    assert measure.reading(amount, joint.p_s) == pytest.approx(expected, rel=1e-9)
    for x in range(0, joint.n_x, 20):
        home = labels[x]
        rest = counts[:, (labels == home) & (np.arange(joint.n_x) != x)].sum(axis=1)
        left = told_after(columns, cells, layout.weights, x, -1, home, 0, views, slots)
        alone = measure.clusters(rest[:, None], joint.p_s)[0]
        assert left == pytest.approx(alone, rel=1e-9, abs=1e-9 * joint.total * layout.units[0])
