import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.content import Content
from textual.widgets import Label, Markdown, Static, TextArea

from memory.text import strip_unsafe
from orca_tui.safe import RenderGuard, SafeLabel, SafeStatic, safe_link

DATA = Path(__file__).parents[1] / "data"
BLACK = Color(0, 0, 0)


def texts(name: str) -> list[str]:
    entries = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return ["".join(entry["s"]) for entry in entries if "s" in entry]


def guarded(*segments: Segment) -> list[Segment]:
    return RenderGuard().apply(list(segments), BLACK)


def test_a_clean_line_is_handed_on_as_it_is() -> None:
    segments = [Segment("你好 👩‍👩‍👧 │ ok ", Style(bold=True)), Segment("x")]
    assert RenderGuard().apply(segments, BLACK) is segments


@pytest.mark.parametrize("text", texts("escapes.jsonl"))
def test_no_live_character_passes_and_the_width_stays(text: str) -> None:
    line = text.replace("\n", " ")
    [segment] = guarded(Segment(line, Style(bold=True)))
    assert strip_unsafe(segment.text) == segment.text
    assert not set("\t\n\x1b") & set(segment.text)
    assert cell_len(segment.text) == cell_len(line)
    assert segment.style == Style(bold=True)


def test_control_segments_and_odd_links_go() -> None:
    link = Segment("a", Style(link="https://example.invalid/"))
    odd = Segment("b", Style(link="ssh://-x@h.invalid", bold=True))
    kept = guarded(link, odd, Segment("", None, [(ControlType.BELL,)]))
    assert [segment.text for segment in kept] == ["a", "b"]
    assert kept[0].style is not None
    assert kept[0].style.link == "https://example.invalid/"
    assert kept[1].style is not None
    assert kept[1].style.link is None
    assert kept[1].style.bold


class Sinks(App[None]):
    """The same text in widgets that clean, and in Textual's own that do not."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._filters.append(RenderGuard())
        self._text = text

    def compose(self) -> ComposeResult:
        yield SafeStatic(self._text)
        yield SafeLabel(self._text)
        yield Static(self._text, markup=False)
        yield Label(Content(self._text))
        yield Markdown(self._text)
        yield TextArea(self._text)


def drawn(app: App[None]) -> Iterator[str]:
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            assert not segment.control
            yield segment.text


async def test_no_sink_lets_a_live_character_through() -> None:
    hostile = [text for text in texts("escapes.jsonl") if text.count("\n") < 5][:40]
    text = "\n".join([*hostile, "&#x202E;x &#8203; &#xE0068;", "[/] [@click=app.quit]x[/]"])
    app = Sinks(text)
    async with app.run_test(size=(90, 260)) as pilot:
        await pilot.pause()
        shown = "".join(drawn(app))
    assert strip_unsafe(shown) == shown
    assert "␛]0;all clear␇" in shown
    assert "[@click=app.quit]x[/]" in shown


async def test_safe_widgets_show_markup_as_text_and_clean_what_they_are_updated_to() -> None:
    class Two(App[None]):
        def compose(self) -> ComposeResult:
            yield SafeStatic("[/] List[int]")
            yield SafeLabel(Content("as built"))

    app = Two()
    async with app.run_test():
        static, safe_label = app.query_one(SafeStatic), app.query_one(SafeLabel)
        assert str(static.render()) == "[/] List[int]"
        assert str(safe_label.render()) == "as built"
        static.update("[red]\x1b[2J")
        safe_label.update("\x07")
        assert str(static.render()) == "[red]␛[2J"
        assert str(safe_label.render()) == "␇"


@pytest.mark.parametrize(
    "url",
    ["https://example.invalid", "http://127.0.0.1:8080/a?b=c#d", "https://例子.invalid/路", "HTTPS://EXAMPLE.invalid"],
)
def test_web_links_are_allowed(url: str) -> None:
    assert safe_link(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "file:///etc/hostname",
        "ssh://-x@h.invalid",
        "vscode://file/x",
        "@click=app.quit",
        "https://",
        "https:example.invalid",
        "https://docs.example@collect.invalid/",
        "https://good.example\\@evil.invalid",
        "https://a.invalid/\x1b]52;c;x",
        "https://a.invalid/\u202egnp",
        "https://a.invalid/a b",
        "http://[::1",
        " https://a.invalid",
        "https://a.invalid/" + "x" * 5000,
    ],
)
def test_other_links_are_not(url: str) -> None:
    assert safe_link(url) is None


def test_markup_corpus_links_are_not_opened() -> None:
    for text in texts("markup.jsonl"):
        assert safe_link(text) is None
