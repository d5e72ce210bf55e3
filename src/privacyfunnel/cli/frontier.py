"""``funnel frontier``: the trade-off of a table, as csv, picture and page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.progress import progress_bar
from privacyfunnel.cli.terminal import say
from privacyfunnel.columns.spelling import read_columns
from privacyfunnel.errors import InvalidInput, from_extra
from privacyfunnel.folders import check_folder, together

if TYPE_CHECKING:
    from privacyfunnel.frontiers.frontier import Frontier

FILES = ["frontier.csv", "frontier.png", "frontier.html"]


@options.takes_a_request("hierarchies", "orders", "cuts", "groups", "importance")
def frontier(
    table: options.Table,
    sensitive: options.Sensitive,
    public: options.Public,
    output: options.Output,
    *,
    problem: Annotated[
        str, typer.Option(help="pf: keep X, hide S (privacy funnel); ib: compress X, keep S.")
    ] = "pf",
    method: Annotated[str, typer.Option(help="{methods}.")] = "best",
    recoding: Annotated[
        str,
        typer.Option(
            help="symbols (any grouping), global or local (columns stay readable).",
            rich_help_panel=options.RECODING,
        ),
    ] = "symbols",
    useful: options.Useful = None,
    and_x: options.AndX = False,
    measure: Annotated[str, options.asked("measure")] = "shannon",
    points: Annotated[
        int | None, typer.Option(help="Points of the sweep: targets of best, or values of λ.")
    ] = None,
    counting: options.Counting,
    opening: options.Opening,
    effort: Annotated[str | None, options.asked("effort")] = None,
    min_count: Annotated[int | None, options.asked("min_count")] = None,
    jobs: options.Jobs = 2,
    seed: options.Seed = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File that lets an interrupted sweep go on.")
    ] = None,
    paper_axes: Annotated[
        bool, typer.Option("--paper-axes", help="Draw the utility loss, as the paper does.")
    ] = False,
    force: options.Force = False,
    **readable: Any,
) -> None:
    """How much a release of the public columns can keep, and what that gives away.

    Writes frontier.csv, frontier.png and frontier.html (interactive, opens offline).
    """
    import privacyfunnel as pf
    from privacyfunnel.report.frontier_words import sentences
    from privacyfunnel.solvers import check_problem, check_settings

    problem = options.PROBLEMS.get(problem, problem)
    if problem not in options.PROBLEMS.values():
        raise InvalidInput(f"--problem must be pf or ib, got {problem!r}.")
    # What was not asked for is left to the method; what it does not take, it refuses.
    given = {"effort": effort, "min_count": min_count}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    readable = options.read_asked(readable)
    if recoding == "symbols":
        if readable:
            wrong = ", ".join(map(options.option_of, readable))
            raise InvalidInput(f"{wrong}: for --recoding global or local.")
        check_problem(method, problem)
        check_settings(method, settings)
    joint = pf.Joint.from_table(
        opening.open(table),
        read_columns(sensitive),
        read_columns(public),
        useful=read_columns(useful or ()),
        **counting.arguments(),
    )
    check_folder(output, FILES, force)
    with progress_bar("Sweeping") as progress:
        found = pf.frontier(
            joint,
            problem,
            method,
            recoding=recoding,
            measure=measure,
            keep=options.read_purpose(useful, and_x),
            n_points=points,
            n_jobs=jobs,
            seed=seed,
            checkpoint=checkpoint,
            progress=progress,
            **settings,
            **readable,
        )
    with together(output, FILES, force) as folder:
        write_frontier(found, folder, paper_axes)
    for line in sentences(found):
        say(line)
    say(f"{len(found)} releases, {sum(found.proved)} proved optimal; see {output}")


def write_frontier(found: Frontier, folder: Path, paper_axes: bool = False) -> None:
    """The frontier as csv, picture and interactive page."""
    with from_extra("plots", "a picture of the trade-off"):
        from matplotlib.figure import Figure

    from privacyfunnel.frontiers.sweep import frontier as sweep
    from privacyfunnel.plots import interactive_html, plot_frontier
    from privacyfunnel.solvers.soft.randomised_response import randomised_response_curve

    frame = found.to_frame()
    frame.insert(0, "method", found.method)
    frame.insert(0, "problem", found.problem)
    frame.to_csv(folder / FILES[0], index=False)
    drawn, noise = [found], None
    if found.is_soft:  # beside what hard codes and plain noise give
        drawn.append(sweep(found.joint, found.problem, n_points=20, seed=found.seed, effort="fast"))
        noise = randomised_response_curve(found.joint)
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    plot_frontier(drawn, figure.add_subplot(), paper_axes=paper_axes, noise=noise)
    figure.savefig(folder / FILES[1], dpi=150)
    (folder / FILES[2]).write_text(interactive_html(found), encoding="utf-8")
