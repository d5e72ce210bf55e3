"""The shell of a page: one HTML file that opens offline, loads nothing and runs nothing."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files


def shell(title: str, body: str) -> str:
    """The whole file around a body; title and body are HTML already.

    >>> shell("Report", "<h1>Report</h1>").splitlines()[-3:]
    ['<h1>Report</h1>', '</body>', '</html>']
    """
    style = files("privacyfunnel.report").joinpath("style.css").read_text(encoding="utf-8")
    # No script, image, font or frame may load; the one style is named by its fingerprint.
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n</body>\n</html>\n"
    )
