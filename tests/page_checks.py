"""What every page and public document must hold to, whoever makes it."""

from html.parser import HTMLParser

TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "b", "span", "div", "br",
    "table", "thead", "tbody", "tr", "th", "td", "meter", "pre", "figure", "figcaption",
    "svg", "path", "circle", "rect", "text",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def assert_inert(text):
    reader = Reader()
    reader.feed(text)
    assert reader.tags <= TAGS
    assert not {a for a in reader.attributes if a.startswith("on")}
    assert not reader.attributes & {"href", "src", "style", "action"}
    assert "default-src 'none'" in text


def numbers_in(value):
    """All numbers in a document, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return {number for part in value for number in numbers_in(part)}
    return {value} if isinstance(value, float) and not isinstance(value, bool) else set()
