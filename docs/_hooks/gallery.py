"""The gallery: each examples/plot_*.py becomes a page with its words, code, output and pictures.

An example begins with a docstring (a title underlined with =, then text). A line ``# %%`` starts a new
part, and the comment right below it is that part's text. The example is run when the site is built.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import re
import shutil
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "gallery"
OPENING = """# Gallery

Each page is a script that you can run: its words, its code, what it prints and what it draws. The
scripts are in the folder `examples` of the source. They need no data but what they make up or what
comes with scikit-learn.
"""


@dataclass(frozen=True)
class Part:
    """A piece of an example: text, code, what the code printed, and its pictures (file names)."""

    text: str
    code: str
    printed: str
    pictures: tuple[str, ...]


def examples() -> list[Path]:
    """The scripts of the gallery, by name."""
    return sorted((ROOT / "examples").glob("plot_*.py"))


def on_config(config: MkDocsConfig) -> None:
    """Put a page for each example below the entry Gallery of the navigation."""
    pages: list[str | dict[str, str]] = [f"gallery/{path.stem}.md" for path in examples()]
    for entry in config.nav or []:
        if "Gallery" in entry:
            entry["Gallery"] = [{"Overview": "gallery/index.md"}, *pages]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Run the examples, or take what they gave last time, and add their pages to the site."""
    cards = []
    for path in examples():
        folder = _run_once(path)
        parts = [Part(**part) for part in json.loads((folder / "parts.json").read_text("utf-8"))]
        files.append(File.generated(config, f"gallery/{path.stem}.md", content=_page(path, parts)))
        for picture in folder.glob("*.png"):
            name = f"gallery/{picture.name}"
            files.append(File.generated(config, name, abs_src_path=str(picture)))
        cards.append(_card(path, parts))
    content = OPENING + "\n" + "\n".join(cards)
    files.append(File.generated(config, "gallery/index.md", content=content))


def split(source: str) -> list[tuple[str, str]]:
    """An example as pairs of text and code.

    >>> split('\"\"\"Title\\n=====\\n\"\"\"\\nx = 1\\n\\n# %%\\n# More.\\ny = 2\\n')
    [('Title\\n=====', 'x = 1'), ('More.', 'y = 2')]
    """
    docstring = ast.get_docstring(ast.parse(source)) or ""
    body = source.split('"""', 2)[2]
    first, *others = re.split(r"^# %%.*\n", body, flags=re.MULTILINE)
    pieces = [(docstring, first.strip())]
    for other in others:
        comment = re.match(r"(?:#.*\n)*", other)
        assert comment is not None
        text = re.sub(r"^# ?", "", comment.group(), flags=re.MULTILINE)
        pieces.append((text.strip(), other[comment.end() :].strip()))
    return pieces


def _run_once(path: Path) -> Path:
    """The folder with the example's result; it is run only where it or the package has changed."""
    digest = hashlib.sha256(Path(__file__).read_bytes() + path.read_bytes())
    for source in sorted((ROOT / "src").rglob("*.py")):
        digest.update(source.read_bytes())
    folder = CACHE / f"{path.stem}-{digest.hexdigest()[:16]}"
    if not (folder / "parts.json").exists():
        for old in CACHE.glob(f"{path.stem}-*"):
            shutil.rmtree(old)
        folder.mkdir(parents=True)
        parts = [asdict(part) for part in run(path, folder)]
        (folder / "parts.json").write_text(json.dumps(parts), encoding="utf-8")
    return folder


def run(path: Path, folder: Path) -> list[Part]:
    """Run an example part by part, with its pictures saved after each part."""
    matplotlib.use("Agg")
    names: dict[str, object] = {"__name__": "__main__", "__file__": str(path)}
    parts, n_pictures = [], 0
    for text, code in split(path.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*non-interactive.*")  # plt.show() in Agg
            exec(compile(code, str(path), "exec"), names)
        pictures = []
        for number in plt.get_fignums():
            n_pictures += 1
            pictures.append(f"{path.stem}-{n_pictures}.png")
            plt.figure(number).savefig(folder / pictures[-1], dpi=130, bbox_inches="tight")
        plt.close("all")
        parts.append(Part(text, code, printed.getvalue(), tuple(pictures)))
    return parts


def _title(parts: list[Part]) -> str:
    return parts[0].text.splitlines()[0]


def _page(path: Path, parts: list[Part]) -> str:
    """An example as Markdown."""
    lines = []
    for part in parts:
        lines.append(part.text)
        if part.code:
            lines.append(f"```python\n{part.code}\n```")
        if part.printed.strip():
            lines.append(f"```text\n{part.printed.rstrip()}\n```")
        lines += [f"![{_title(parts)}]({name}){{ .drawn }}" for name in part.pictures]
    lines.append(f"Run it yourself: `python examples/{path.name}`.")
    return "\n\n".join(lines) + "\n"


def _card(path: Path, parts: list[Part]) -> str:
    """An example's title, first sentence and picture for the index."""
    name, title = f"{path.stem}.md", _title(parts)
    words = " ".join(parts[0].text.split("\n", 2)[2].strip().split("\n\n")[0].split())
    pictures = [picture for part in parts for picture in part.pictures]
    shown = f"[![{title}]({pictures[-1]}){{ .drawn .small }}]({name})\n\n" if pictures else ""
    return f"## {title}\n\n{shown}{words} [Read on]({name})\n"
