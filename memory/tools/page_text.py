"""The words of a web page, without its markup, scripts and styles."""

import codecs
import re
from html.parser import HTMLParser

_HIDDEN = re.compile(r"<!--|<(script|style|template|svg|iframe|object|noscript|canvas|math|textarea)\b", re.IGNORECASE)
_NO_TAG = re.compile(r"<(?![a-zA-Z/!?][^<>]{0,20000}>)")
"""A sign that begins no tag; the parser would look for its end again and again."""
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
_BLANKS = re.compile(r"\s+")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)


class _Words(HTMLParser):
    """Collects text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._as_it_is = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._as_it_is += tag == "pre"
        if tag in _BLOCKS:
            self.pieces.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._as_it_is:
            self._as_it_is -= 1
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data if self._as_it_is else _BLANKS.sub(" ", data))


def page_text(html: str) -> str:
    """The text of a page, a paragraph a line; broken markup is taken as it comes. Linear in its length."""
    words = _Words()
    words.feed(_NO_TAG.sub("&lt;", _without_hidden(html)))
    words.close()
    found: list[str] = []
    for line in "".join(words.pieces).split("\n"):
        if line.strip() or (found and found[-1]):  # one empty line for any number
            found.append(line.rstrip())
    return "\n".join(found).strip()


def _without_hidden(html: str) -> str:
    """The page without comments, scripts and whatever else is no text of it."""
    kept: list[str] = []
    position = 0
    while (begin := _HIDDEN.search(html, position)) is not None:
        kept.append(html[position : begin.start()])
        tag = begin[1]
        end = html.find("-->", begin.end()) if tag is None else _end_of(html, tag, begin.end())
        if end < 0:
            return "".join(kept)
        position = end + len("-->") if tag is None else end
    kept.append(html[position:])
    return "".join(kept)


def _end_of(html: str, tag: str, start: int) -> int:
    """Behind the closing tag; -1 when there is none."""
    found = re.compile(f"</{tag}\\b[^>]{{0,200}}>", re.IGNORECASE).search(html, start)
    return found.end() if found is not None else -1


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
