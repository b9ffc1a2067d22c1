"""Inline Markdown → spans: emphasis, code, links followed by their real target, images as text with target."""

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

from markdown_it.token import Token

from memory.text import clean
from orca_tui.i18n import _
from orca_tui.render.line import Span
from orca_tui.render.parser import References, parse_inline
from orca_tui.render.pieces import piece_end
from orca_tui.safe import safe_link

MAX_KEPT = 500
"""Characters up to which the spans of a text are remembered: the unfinished block is laid out again and again."""
MOST_MARKS = 300
"""Marks of emphasis in one piece of text beyond which they are shown as they are: nobody means that, and it is slow."""
MARKS = {"strong": "strong", "em": "em", "s": "strike"}

_URL = re.compile(r"https?://[^\s<>\"'`｜|，。；：！？、（）【】《》「」『』“”‘’]+")
_ENCODED = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_NOT_LAST = frozenset(".,;:!?*_~")


def inline_spans(text: str, references: References) -> list[Span]:
    """The spans of a text; `\\n` in them is a line break. A long text is parsed in pieces, so that what it costs only
    grows with its length."""
    spans: list[Span] = []
    while end := piece_end(text):
        spans += _piece_spans(text[:end], references)
        text = text[end:]
    return [*spans, *_piece_spans(text, references)]


def _piece_spans(text: str, references: References) -> Sequence[Span]:
    if len(text) > MOST_MARKS and sum([text.count(mark) for mark in "*_~"]) > MOST_MARKS:
        return plain_spans(text)
    if not references and len(text) <= MAX_KEPT:
        return _kept(text)
    return _Inline().run(parse_inline(text, references))


@lru_cache(maxsize=1024)
def _kept(text: str) -> tuple[Span, ...]:
    return tuple(_Inline().run(parse_inline(text, {})))


def plain_spans(text: str, style: str = "", *, tabs: bool = False) -> list[Span]:
    """Text as it is, with the web addresses in it as links. A tab becomes one blank unless `tabs` are kept."""
    text = text if tabs else text.replace("\t", " ")
    if "://" not in text:
        return [Span(text, style)] if text else []
    spans: list[Span] = []
    at = 0
    for match in _URL.finditer(text):
        url = _address(match[0])
        link = web_link(url)
        if not link:
            continue
        if match.start() > at:
            spans.append(Span(text[at : match.start()], style))
        at = match.start() + len(url)
        spans.append(Span(url, f"{style} link" if style else "link", link))
    if at < len(text):
        spans.append(Span(text[at:], style))
    return spans


def _address(text: str) -> str:
    """The address without the marks that end a sentence, and the brackets that it did not open."""
    end = len(text)
    excess = text.count(")") - text.count("(")
    while end and (text[end - 1] in _NOT_LAST or (text[end - 1] == ")" and excess > 0)):
        end -= 1
        excess -= text[end] == ")"
    return text[:end]


def web_link(href: str) -> str:
    """The address when it may be opened, else nothing."""
    return safe_link(href) or "" if "://" in href else ""


class _Inline:
    """Walks the tokens of one text. Spans of a link are collected apart, to be compared with its target."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.marks: list[str] = []
        self.links: list[tuple[int, str, str]] = []

    def run(self, tokens: Sequence[Token]) -> list[Span]:
        self.tokens(tokens)
        while self.links:
            self.close_link()
        return self.spans

    def tokens(self, tokens: Sequence[Token]) -> None:
        """Neighbouring text is joined first: an address may hold an entity or an escape."""
        text: list[str] = []
        for token in tokens:
            if token.type in ("text", "text_special"):
                text.append(token.content)
                continue
            self.text("".join(text))
            text.clear()
            self.token(token)
        self.text("".join(text))

    def token(self, token: Token) -> None:
        kind = token.type
        if kind == "code_inline":
            self.spans.append(Span(_flat(token.content), self.style("code"), self.link))
        elif kind in ("softbreak", "hardbreak"):
            self.spans.append(Span("\n"))
        elif kind == "link_open":
            self.links.append((len(self.spans), str(token.attrGet("href") or ""), str(token.attrGet("title") or "")))
            self.marks.append("link")
        elif kind == "link_close":
            self.close_link()
        elif kind == "image":
            self.image(token)
        elif token.nesting == 1:
            self.marks.append(MARKS.get(token.tag, ""))
        elif token.nesting == -1 and self.marks:
            self.marks.pop()
        else:
            self.text(token.content)

    @property
    def link(self) -> str:
        return web_link(clean(self.links[-1][1])) if self.links else ""

    def style(self, more: str = "") -> str:
        return " ".join([mark for mark in (*self.marks, more) if mark])

    def text(self, content: str) -> None:
        if not content:
            return
        content = clean(content)
        if self.links:
            self.spans.append(Span(_flat(content), self.style(), self.link))
        else:
            self.spans.extend(plain_spans(content, self.style()))

    def close_link(self) -> None:
        if not self.links:
            return
        link = self.link
        start, href, title = self.links.pop()
        if "link" in self.marks:
            del self.marks[len(self.marks) - 1 - self.marks[::-1].index("link")]
        shown = "".join(span.text for span in self.spans[start:])
        self.target(shown, href, title, link)

    def target(self, shown: str, href: str, title: str, link: str) -> None:
        """What a label hides: the address, unless the label says it, and the title."""
        address = _readable(clean(href))
        told = [] if not address or _same(shown, address) or _same(shown, clean(href)) else [address]
        told += [f'"{clean(title)}"'] if title else []
        if told:
            self.spans.append(Span(_flat(f" ({' '.join(told)})"), self.style("target"), link))

    def image(self, token: Token) -> None:
        href, title = str(token.attrGet("src") or ""), str(token.attrGet("title") or "")
        link = web_link(clean(href))
        self.spans.append(Span(_("image:") + " ", self.style("target")))
        start = len(self.spans)
        self.tokens(token.children or [])
        shown = "".join(span.text for span in self.spans[start:])
        self.target(shown, href, title, link)


def _readable(address: str) -> str:
    """The address with percent-encoded letters beyond ASCII decoded; the host stays in its safe form."""
    return _ENCODED.sub(_decoded, address)


def _decoded(match: re.Match[str]) -> str:
    try:
        text = unquote(match[0], errors="strict")
    except UnicodeDecodeError:
        return match[0]
    return text if text.isprintable() and clean(text) == text else match[0]


def _same(shown: str, address: str) -> bool:
    return shown.strip().rstrip("/") in (address.rstrip("/"), address.removeprefix("mailto:"))


def _flat(text: str) -> str:
    """One line without tabs."""
    return text.replace("\t", " ").replace("\n", " ")
