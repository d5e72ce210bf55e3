"""``funnel demo``: the main job on data that is bundled with scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.cli import options
from privacyfunnel.cli.frontier import FILES, write_frontier
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.cli.progress import progress_bar
from privacyfunnel.cli.terminal import say
from privacyfunnel.folders import check_folder, together

if TYPE_CHECKING:
    from privacyfunnel.frontiers.frontier import Frontier

ROLES: dict[str, Any] = {"sensitive": ["age", "sex"], "public": ["sex", "chol"]}
RELEASE = "release"  # a folder beside the frontier: what receivers of such a table get
ASKED: dict[str, Any] = {
    "kept": 0.5,
    "is_public": True,
    "form": "csv",
    "effort": "fast",
    "points": 3,
    "attackers": False,
    "source": "the demo's table",
}
SHOWN = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8]


def demo(
    output: options.Output = Path("funnel-demo"),
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Hide age and sex of 442 patients while publishing sex and cholesterol.

    The columns are those of the paper; the table comes with scikit-learn. Writes the frontier and, into
    a folder beside it, a readable release without any figure about what is sensitive.
    """
    import privacyfunnel as pf

    check_folder(output, FILES, force)
    table = pf.datasets.load_demo()
    joint = pf.Joint.from_table(table, **ROLES)
    say(
        f"{len(table)} patients. Sensitive: age and sex, {joint.entropy_s:.2f} bits. "
        f"To publish: sex and cholesterol, {joint.entropy_x:.2f} bits.\n"
        f"Published as they are, they give away {joint.information:.2f} bits, "
        f"{joint.information / joint.entropy_s:.0%} of what is sensitive.\n"
    )
    with progress_bar("Searching releases") as progress:
        found = pf.frontier(
            joint, n_points=19, n_jobs=2, seed=seed, effort="fast", progress=progress
        )
    with together(output, FILES, force) as folder:
        write_frontier(found, folder)
    pf.release(table, **ROLES, out=output / RELEASE, force=force, seed=seed, hints=HINTS, **ASKED)
    _print_table(found)
    _print_words(found, output)


def _print_table(found: Frontier) -> None:
    """Releases near round utilities, as a table on the terminal."""
    say(f"{'utility kept':>12}  {'leakage':>8}  {'limit':>8}  {'symbols':>7}")
    for asked in SHOWN:
        row = _keeping(asked, found)
        proved = "  proved optimal" if row.gap == 0 else ""
        say(
            f"{row.utility:>12.1%}  {row.leakage:>8.2%}  {row.limit:>8.2%}  "
            f"{row.n_symbols:>7.0f}{proved}"
        )


def _keeping(share: float, found: Frontier) -> Any:
    """The point of the frontier that is taken for a utility."""
    from privacyfunnel.solvers.target import Price, ranked

    rows: Iterable[Any] = found.to_frame().itertuples()
    return ranked(rows, Price.keeping(share), lambda row: (row.leakage, row.utility))[0]


def _print_words(found: Frontier, folder: Path) -> None:
    """What the table shows, for someone who is no information theorist."""
    from privacyfunnel.metrics.stakes import stakes
    from privacyfunnel.releases.cautions import few_records

    frame = found.to_frame()
    chosen = _keeping(0.3, found)
    whole = frame.iloc[-1]
    proved = frame[(frame.gap == 0) & (frame.utility > 0.01)]
    say(
        f"\nGrouping {found.joint.n_x} values into {chosen.n_symbols:.0f} keeps "
        f"{chosen.utility:.0%} of the information in sex and cholesterol but gives away "
        f"{chosen.leakage:.1%} of age and sex, {whole.leakage / chosen.leakage:.0f} times less "
        f"than publishing everything."
    )
    if len(proved):
        say(
            f"From {proved.utility.iloc[0]:.0%} utility on, the releases marked as proved "
            "optimal meet a limit that no release can beat."
        )
    say(few_records(stakes(found.joint, seed=found.seed)).text)
    say(
        f"Picture and numbers: {folder}. A readable release, as its receivers get it: "
        f"{folder / RELEASE}"
    )
