"""Plots: take a Frontier and an Axes, give back the Axes; or one interactive page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from privacyfunnel.errors import from_extra
from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.report import frontier_words
from privacyfunnel.report.frontier_words import axis_words
from privacyfunnel.report.page import frontier_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = {  # what the two axes are called, and what the limit forbids
    "funnel": ("utility kept", "leakage", "no release can be here"),
    "bottleneck": ("rate", "relevance", "no code can be here"),
}
TITLES = {
    "funnel": ("public information kept", "sensitive information given away"),
    "bottleneck": ("public information told (rate)", "sensitive information told (relevance)"),
}
INK = {"frontier": "#1f5fa8", "limit": "#b23a48", "forbidden": "#f3d9dc", "identity": "#222222"}


def limit_curve(joint: Joint, problem: str, n_points: int = 201) -> tuple[Array, Array]:
    """The limit over the whole range, as shares of H(X) and H(S)."""
    utility = np.linspace(0.0, joint.entropy_x, n_points)
    bounds = np.array([limit(joint, problem, float(u)) for u in utility])
    return share(utility, joint.entropy_x), share(bounds, joint.entropy_s)


def _limit_of(frontier: Frontier) -> tuple[Array, Array]:
    """The limit of a frontier over its range, as shares; empty where none is proved."""
    joint, aim = frontier.joint, frontier.aim
    bounds = frontier.limits(np.linspace(0.0, aim.whole_utility(joint), 201))
    if np.isnan(bounds).any():
        return np.zeros(0), np.zeros(0)
    return np.linspace(0.0, 1.0, len(bounds)), share(bounds, aim.whole_leakage(joint))


def _told_by_x(frontier: Frontier) -> float:
    """What X as it is tells, as a share."""
    whole = frontier.aim.whole_leakage(frontier.joint)
    return float(share(frontier.measure(frontier.joint.p_sx), whole))


def plot_frontier(
    frontiers: Frontier | Sequence[Frontier],
    ax: Axes,
    *,
    paper_axes: bool = False,
    noise: Array | None = None,
) -> Axes:
    """Draw frontiers of one joint with the limit and the identity (X released as it is).

    ``paper_axes`` puts the utility loss −I(X;X̂)/H(X) on the horizontal axis, as Ding & Sadeghi do.
    Filled points meet the limit and are proved optimal. ``noise`` is a curve of (I(X;X̂), I(S;X̂)) in
    bits to compare with, such as that of `randomised_response_curve`.
    """
    several = [frontiers] if isinstance(frontiers, Frontier) else list(frontiers)
    first = several[0]
    joint, problem = first.joint, first.problem
    sign = -1.0 if paper_axes else 1.0
    x_word, y_word, forbidden = WORDS[problem]
    x, y = _limit_of(first)
    if len(x):
        edge = np.zeros_like(y) if problem == "funnel" else np.ones_like(y)
        ax.fill_between(sign * x, y, edge, color=INK["forbidden"], lw=0, label=forbidden)
        ax.plot(sign * x, y, color=INK["limit"], lw=1.2, label="limit")
    for k, frontier in enumerate(several):
        _draw(ax, frontier, sign, INK["frontier"] if k == 0 else f"C{k}")
    if noise is not None:
        x, y = share(noise[:, 0], joint.entropy_x), share(noise[:, 1], joint.entropy_s)
        ax.plot(sign * x, y, ":", color="0.35", lw=1.4, label="randomised response (local DP)")
    whole = _told_by_x(first)
    ax.plot([sign], [whole], "*", ms=13, color=INK["identity"], label="X as it is", clip_on=False)
    kept, told = axis_words(first)
    bits = f"−{kept}" if paper_axes else kept
    ax.set_xlabel(f"{x_word + ' (negative)' if paper_axes else x_word}  {bits}")
    ax.set_ylabel(f"{y_word}  {told}")
    ax.set_xlim(*sorted((-sign * 0.01, sign * 1.01)))
    ax.set_ylim(-0.01, 1.01 if problem == "bottleneck" else max(0.05, whole) * 1.06)
    ax.grid(alpha=0.25, lw=0.6)
    ax.legend(framealpha=0.9, edgecolor="none", loc="best")
    return ax


def _draw(ax: Axes, frontier: Frontier, sign: float, colour: str) -> None:
    frame = frontier.to_frame()
    proved = np.array(frontier.proved)
    x, y = sign * frame.utility.to_numpy(), frame.leakage.to_numpy()
    ax.plot(x, y, "-", color=colour, lw=1.4, label=f"releases found ({frontier.method})")
    ax.plot(x[~proved], y[~proved], "o", ms=4.5, mfc="white", mec=colour)
    if proved.any():
        ax.plot(x[proved], y[proved], "o", ms=4.5, color=colour, label="proved optimal")


def interactive(frontier: Frontier) -> Any:
    """The same as a plotly figure; hovering over a point shows λ, symbols and the gap."""
    with from_extra("plots", "an interactive picture"):
        import plotly.graph_objects as go

    frame = frontier.to_frame()
    x_word, y_word, _ = WORDS[frontier.problem]
    x, y = _limit_of(frontier)
    verdict = ["proved optimal" if p else "best found" for p in frontier.proved]
    details = np.column_stack([frame[["lam", "n_symbols", "limit", "gap"]], verdict])
    hover = (
        f"{x_word} %{{x:.2%}}<br>{y_word} %{{y:.2%}}<br>λ %{{customdata[0]:.4f}}<br>"
        "released symbols %{customdata[1]:d}<br>limit %{customdata[2]:.2%}<br>"
        "gap %{customdata[3]:.2%}<br>%{customdata[4]}<extra></extra>"
    )
    proved = frame[np.array(frontier.proved, dtype=bool)]
    # What lies below the funnel's limit cannot be had; plotly cannot shade above a curve so simply.
    shaded = {"fill": "tozeroy", "fillcolor": INK["forbidden"]}
    fill = shaded if frontier.problem == "funnel" else {}
    figure = go.Figure(
        [
            go.Scatter(x=x, y=y, name="limit", line={"color": INK["limit"]}, **fill),
            go.Scatter(
                x=frame.utility,
                y=frame.leakage,
                mode="lines+markers",
                name=f"releases found ({frontier.method})",
                line={"color": INK["frontier"]},
                # Filled with paper, so that rings that overlap stay rings.
                marker={
                    "size": 8,
                    "color": "white",
                    "line": {"color": INK["frontier"], "width": 1.5},
                },
                customdata=details.tolist(),
                hovertemplate=hover,
            ),
            go.Scatter(
                x=proved.utility,
                y=proved.leakage,
                mode="markers",
                name="proved optimal",
                marker={"size": 8, "color": INK["frontier"]},
                hoverinfo="skip",
                showlegend=len(proved) > 0,
            ),
            go.Scatter(
                x=[1.0],
                y=[_told_by_x(frontier)],
                mode="markers",
                name="published as it is",
                marker={"symbol": "star", "size": 14, "color": INK["identity"]},
                hovertemplate=f"{x_word} 100%<br>{y_word} %{{y:.2%}}<extra></extra>",
            ),
        ]
    )
    x_title, y_title = TITLES[frontier.problem]
    figure.update_layout(
        xaxis={"title": x_title, "tickformat": ".0%"},
        yaxis={"title": y_title, "tickformat": ".0%"},
        template="plotly_white",
        legend={"orientation": "h", "y": -0.18},
        margin={"t": 16, "r": 16},
    )
    return figure


def interactive_html(frontier: Frontier) -> str:
    """A page of its own that opens offline, the script inside; it follows the system's colours."""
    figure = interactive(frontier).to_html(
        full_html=False,
        include_plotlyjs=True,
        div_id="frontier",
        default_height="75vh",
        config={"displayModeBar": False, "responsive": True},
        post_script=files("privacyfunnel.report").joinpath("frontier.js").read_text("utf-8"),
    )
    return frontier_page(
        frontier.problem, figure, axis_words(frontier), frontier_words.sentences(frontier)
    )
