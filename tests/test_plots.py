import numpy as np
import pytest
from matplotlib.figure import Figure

import privacyfunnel as pf
from privacyfunnel.plots import interactive, interactive_html, limit_curve, plot_frontier


@pytest.fixture(scope="module", params=["funnel", "bottleneck"])
def front(request) -> pf.Frontier:
    joint = pf.Joint.from_counts([[9, 1, 5, 2, 3], [1, 9, 5, 2, 0], [2, 2, 5, 9, 1]])
    return pf.frontier(joint, request.param, n_points=6, effort="fast")


@pytest.mark.parametrize("paper_axes", [False, True])
def test_the_points_drawn_are_the_frontier(front, paper_axes):
    ax = plot_frontier(front, Figure().add_subplot(), paper_axes=paper_axes)
    line = next(line for line in ax.lines if line.get_label() == "releases found (best)")
    frame = front.to_frame()
    sign = -1 if paper_axes else 1
    assert np.allclose(line.get_xdata(), sign * frame.utility)
    assert np.allclose(line.get_ydata(), frame.leakage)
    low, high = ax.get_xlim()
    assert low <= min(line.get_xdata()) <= max(line.get_xdata()) <= high
    assert "X as it is" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_several_frontiers_share_one_picture(front):
    greedy = pf.frontier(front.joint, front.problem, "greedy", n_points=5)
    ax = plot_frontier([front, greedy], Figure().add_subplot())
    labels = [line.get_label() for line in ax.lines]
    assert "releases found (best)" in labels
    assert "releases found (greedy)" in labels


def test_the_limit_curve_bounds_every_point(front):
    x, y = limit_curve(front.joint, front.problem)
    frame = front.to_frame()
    sign = 1 if front.problem == "funnel" else -1
    assert (sign * (frame.leakage - np.interp(frame.utility, x, y)) >= -1e-3).all()


def test_hovering_shows_lambda_symbols_and_gap(front):
    figure = interactive(front)
    points = figure.data[1]
    frame = front.to_frame()
    assert np.allclose([float(row[0]) for row in points.customdata], frame.lam)
    assert np.allclose([float(row[3]) for row in points.customdata], frame.gap)
    assert "released symbols" in points.hovertemplate


def test_the_page_opens_offline_and_follows_the_colours_of_the_system(front):
    html = interactive_html(front)
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    assert 'src="' not in html.split("<body>")[0]
    assert html.count("<h1>") == 1
