"""The words of a web page, without its markup, scripts and styles."""

import codecs
import re
from html.parser import HTMLParser

_SKIPPED = {"script", "style", "template", "svg", "iframe", "object", "noscript", "canvas", "math"}
_BLOCKS = {
    *(
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
    ),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table"),
    *("title", "tr", "ul"),
}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")


class _Words(HTMLParser):
    """Collects text; in a block that is skipped, nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._skipping: list[str] = []
        self._as_it_is = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _SKIPPED:
            self._skipping.append(tag)
        elif not self._skipping:
            self._as_it_is += tag == "pre"
            if tag in _BLOCKS:
                self.pieces.append("\n- " if tag == "li" else "\n")
            elif tag in ("td", "th"):
                self.pieces.append(" | ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SKIPPED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag in self._skipping:
                del self._skipping[self._skipping.index(tag) :]
            return
        if tag == "pre" and self._as_it_is:
            self._as_it_is -= 1
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.pieces.append(data if self._as_it_is else re.sub(r"\s+", " ", data))


def page_text(html: str) -> str:
    """The text of a page, a paragraph a line; broken markup is taken as it comes."""
    words = _Words()
    words.feed(html)
    words.close()
    lines = "".join(words.pieces)
    return _LINES.sub("\n\n", "\n".join(_BLANKS.sub(" ", line).rstrip() for line in lines.split("\n"))).strip()


def decode(body: bytes, charset: str, *, is_html: bool) -> str:
    """A body as text: by its charset, else what the page says of itself, else UTF-8. Never raises."""
    if not charset and is_html and (found := _CHARSET.search(body[:4096])):
        charset = found[1].decode("ascii")
    if charset.lower().replace("-", "").replace("_", "") in ("gb2312", "gbk", "xgbk"):
        charset = "gb18030"  # a superset: pages often hold more than they say
    try:
        codec = codecs.lookup(charset or "utf-8")
        return codec.decode(body.removeprefix(codecs.BOM_UTF8), "replace")[0]
    except (LookupError, UnicodeError, AttributeError, ValueError, TypeError):
        return body.decode("utf-8", "replace")
