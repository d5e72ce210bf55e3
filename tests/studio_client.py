"""A visitor of the studio without a screen, for its tests; and what such a visitor reads on a page."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import httpx

from privacyfunnel import datasets

EVIL = "<img src=x onerror=\"document.title='owned'\">"
DEMO_FORM = {
    "treat-0": "category", "treat-1": "category", "treat-2": "category",
    "sensitive-0": "on", "sensitive-1": "on", "public-1": "on", "public-2": "on",
}  # fmt: skip
PATIENCE = 180  # seconds; a page may come while other tests compile
QUICK = {"recoding": "symbols", "effort": "fast", "points": "1"}


class Visitor(httpx.Client):
    """A browser without a screen: keeps cookies, names its origin, follows redirects."""

    def __init__(self, studio, token: bool = True) -> None:
        base = studio.settings.address.split("/?")[0]
        super().__init__(
            base_url=base, headers={"Origin": base}, timeout=PATIENCE, follow_redirects=True
        )
        self._start = studio.settings.address if token else "/"

    def __enter__(self):
        super().__enter__()
        self.first = self.get(self._start)
        return self

    def upload(self, name: str, content: bytes | str) -> httpx.Response:
        return self.post("/upload", params={"name": name}, content=content)

    def job(self, page: str, key: str = "job") -> str:
        """The id of the task that a page waits for."""
        return attributes(self.get(page).text, f"data-{key}")[0]

    def wait(self, job_id: str) -> dict:
        for _ in range(1200):
            job = self.get(f"/jobs/{job_id}").json()
            if job["state"] not in ("queued", "running"):
                return job
            time.sleep(0.15)
        raise AssertionError(f"not done after three minutes: {job}")

    def finished(self, page: str) -> str:
        """The page once it waits for nothing."""
        for job_id in attributes(self.get(page).text, "data-job"):
            self.wait(job_id)
        return self.get(page).text

    def demo(self) -> None:
        self.post("/demo")
        self.finished("/columns")

    def searched(self, form=DEMO_FORM, settings=QUICK) -> dict:
        """The columns marked and the frontier searched."""
        self.post("/columns", data=form)
        self.finished("/columns")
        self.post("/search", data=settings)
        return self.wait(self.job("/tradeoff", "search"))

    def released(self, target=("utility", "0.3"), options=()) -> str:
        """A release chosen and made; the page that shows it."""
        by, value = target
        started = self.post("/choose", data={"by": by, "value": value}).json()
        assert self.wait(started["job"])["state"] == "done"
        self.post("/release", data=dict(options))
        return self.finished("/release")


def attributes(page: str, name: str) -> list[str]:
    """The values of an attribute, in the order of the page."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.extend(value for key, value in attrs if key == name)

    Reader().feed(page)
    return found


def element(page: str, wanted: str) -> str:
    """The text of the element with an id."""
    found, inside = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if dict(attrs).get("id") == wanted:
                inside.append(tag)

        def handle_endtag(self, tag):
            if inside and inside[-1] == tag:
                inside.pop()

        def handle_data(self, data):
            if inside:
                found.append(data)

    Reader().feed(page)
    return "".join(found)


def demo_csv() -> str:
    return datasets.load_demo().to_csv(index=False)
