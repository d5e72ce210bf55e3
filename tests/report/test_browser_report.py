"""The report opened in Chromium: nothing in it runs, and it fits a phone."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
EVIL = [
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "</style><script>document.title = 'owned'</script>",
    "<svg onload=\"document.title = 'owned'\">",
    "'\" autofocus onfocus=\"document.title = 'owned'\" tabindex=1 x='",
    "<iframe src=\"javascript:parent.document.title = 'owned'\"></iframe>",
    "a,b\nc",
    None,
]


def chromium(folder: Path, page: Path, *args: str) -> str:
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", *args, page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """The report of a table whose every name and value attacks the reader."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.choice(np.array(EVIL, dtype=object), 200) for name in EVIL[:3]})
    folder = tmp_path_factory.mktemp("browser") / "out"
    asked = {"utility": 0.5, "effort": "fast", "points": 2, "expand": True}
    names = {"source": EVIL[0], "command": EVIL[0]}
    pf.release(table, EVIL[0], EVIL[1:3], out=folder, **asked, **names)
    return folder / "report.html"


def test_nothing_in_the_report_runs(report, tmp_path):
    dom = chromium(tmp_path, report, "--dump-dom")
    assert "<title>Release report</title>" in dom
    assert "owned" in dom  # the values are shown ...
    for tag in ("<script", "<img", "<iframe"):  # ... as text
        assert tag not in dom


def test_the_check_would_notice_a_script(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<title>Release report</title>{EVIL[0]}")
    assert "<title>owned</title>" in chromium(tmp_path, page, "--dump-dom")


@pytest.mark.parametrize("width", [390, 1100])
def test_the_report_fits_the_screen(report, tmp_path, width):
    """Measured by a script of the test's own, in a copy without the policy that would stop it."""
    text = report.read_text(encoding="utf-8")
    start = text.index('<meta http-equiv="Content-Security-Policy"')
    end = text.index(">", start) + 1
    probe = (
        "<script>addEventListener('load', () => parent.postMessage("
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth], '*'))</script>"
    )
    (tmp_path / "probed.html").write_text(
        text[:start] + text[end:].replace("</body>", probe + "</body>")
    )
    frame = tmp_path / "frame.html"  # Chromium's own window is never narrower than 500
    frame.write_text(
        "<script>addEventListener('message', e => { document.title = e.data; })</script>"
        f'<iframe src="probed.html" width="{width}" height="800" frameborder="0"></iframe>'
    )
    dom = chromium(tmp_path, frame, "--hide-scrollbars", "--virtual-time-budget=3000", "--dump-dom")
    assert f"<title>{width},{width}</title>" in dom
