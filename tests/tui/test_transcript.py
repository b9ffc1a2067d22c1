"""The transcript on a screen: following, staying, selecting, folding, links."""

from itertools import pairwise

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset, Region
from textual.pilot import Pilot
from textual.theme import Theme
from textual.widgets import Input

from orca_tui.render.entry import Entry
from orca_tui.themes import VARIABLES
from orca_tui.widgets.transcript import Transcript
from orca_tui.widgets.transcript_feed import IDLE_TICKS

LONG = "\n\n".join([f"Paragraph {n} of the answer." for n in range(40)])


class Harness(App[None]):
    def __init__(self, entries: list[Entry] | None = None) -> None:
        super().__init__()
        self.given = entries or []
        self.heard: list[object] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(VARIABLES)

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield Input()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_mount(self) -> None:
        self.transcript.set_entries(self.given)
        self.transcript.focus()

    def on_transcript_follow_changed(self, event: Transcript.FollowChanged) -> None:
        self.heard.append(event.at_end)

    def on_transcript_link_clicked(self, event: Transcript.LinkClicked) -> None:
        self.heard.append(event.url)


def seen(transcript: Transcript, *, bars: bool = True) -> list[str]:
    """Rows of the view; without `bars` also without the cursor's mark."""
    rows = [strip.text.rstrip() for strip in transcript.render_lines(transcript.size.region)]
    return rows if bars else [row[2:] for row in rows]


def flush(transcript: Transcript) -> None:
    while transcript._feed.flush():
        pass


def talk(count: int) -> list[Entry]:
    return [
        Entry(str(n), "assistant" if n % 2 else "user", f"Message {n} " + "word " * (n % 30), reasoning="why" * (n % 2))
        for n in range(count)
    ]


async def test_the_end_is_shown_first() -> None:
    app = Harness(talk(500))
    async with app.run_test(size=(60, 20)):
        assert "Message 499" in " ".join(seen(app.transcript)[-4:])
        assert app.transcript.at_end
        assert app.transcript.scroll_y == app.transcript.max_scroll_y


async def test_a_reply_streams_at_the_end() -> None:
    app = Harness(talk(30))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", "", model="tiny"))
        await pilot.pause()
        assert seen(view)[-2] == "┃ …"
        view.feed("r", "Some **bo")
        flush(view)
        assert seen(view)[-2] == "┃ Some bo"
        view.feed("r", "ld** text\n\n" + LONG)
        flush(view)
        assert seen(view)[-2] == "┃ Paragraph 39 of the answer."
        view.finish("r", state="stopped", note="stopped by you")
        await pilot.pause()
        assert seen(view)[-4:] == ["┃ Paragraph 39 of the answer.", "┃", "┃ ■ stopped by you", ""]
        assert view.at_end


async def test_finish_with_another_text_shows_that_text() -> None:
    app = Harness()
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        view.feed("r", "partial")
        flush(view)
        view.finish("r", state="complete", text="The **whole** text.")
        assert seen(view)[:2] == ["❯ Assistant", "┃ The whole text."]
        assert view.entries[-1].text == "The **whole** text."


async def test_reading_back_is_not_disturbed_by_the_stream() -> None:
    app = Harness(talk(40))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", LONG))
        await pilot.press("pageup", "pageup", "k")
        await pilot.pause()
        before = seen(view)
        assert not view.at_end
        for turn in range(20):
            view.feed("r", f"\n\nMore {turn}")
            flush(view)
        view.finish("r", state="complete")
        view.add(Entry("n", "notice", "A remark"))
        assert seen(view) == before
        await pilot.press("G")
        await pilot.pause()
        assert view.at_end
        assert seen(view)[-3] == "┃ │ A remark │"
        assert app.heard == [False, True]


async def test_scrolling_by_pages_leaves_no_row_out() -> None:
    app = Harness(talk(60))
    async with app.run_test(size=(50, 15)):
        view = app.transcript
        back = [seen(view, bars=False)]
        while view.scroll_y > 0:
            view.action_page_up()
            back.append(seen(view, bars=False))
        assert all(later[-1] == earlier[0] for earlier, later in pairwise(back[:-1]))
        down = [seen(view, bars=False)]
        while not view.at_end:
            view.action_half_page(1)
            down.append(seen(view, bars=False))
        half = view.size.height // 2
        assert all(later[:-half] == earlier[half:] for earlier, later in pairwise(down[:-1]))
        for pages in (back, down):
            assert {row.split()[1] for page in pages for row in page if "Message" in row} == {*map(str, range(60))}


@pytest.mark.parametrize("key", ["g", "home"])
async def test_to_the_beginning_and_back(key: str) -> None:
    app = Harness(talk(200))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(key)
        assert seen(app.transcript)[:2] == ["❯ You", "┃ Message 0"]
        await pilot.press("j", "down", "k")
        assert [row for row in seen(app.transcript) if row[:1] in "❯┃" and row] == [
            "❯ Assistant",
            "┃ ▸ reasoning, 1 word",
            "┃ Message 1 word",
        ]
        await pilot.press("end")
        assert app.transcript.at_end


async def test_another_width_keeps_the_place() -> None:
    app = Harness(talk(80))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        await pilot.press("pageup", "pageup", "pageup")
        top = next(row for row in seen(view) if "Message" in row).split()[2]
        await pilot.resize_terminal(35, 20)
        await pilot.pause()
        assert any(f"Message {top}" in row for row in seen(view)[:12])
        assert not view.at_end
        await pilot.press("G")
        await pilot.resize_terminal(90, 30)
        await pilot.pause()
        assert view.at_end
        assert "Message 79" in " ".join(seen(view)[-4:])


async def test_any_size_survives_while_text_streams() -> None:
    app = Harness(talk(10))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", "", reasoning="so"))
        for size in [(1, 1), (2, 3), (3, 1), (200, 60), (5, 5), (500, 200), (60, 20)]:
            await pilot.resize_terminal(*size)
            view.feed("r", "中文 👩‍👩‍👧 | a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n- item\n\n")
            flush(view)
            await pilot.pause()
            assert all(strip.cell_length == view.size.width for strip in view.render_lines(view.size.region))


async def test_a_theme_changes_colours_and_nothing_else() -> None:
    app = Harness([Entry("1", "assistant", "**bold** `code`\n\n```py\nopen = 1")])
    async with app.run_test(size=(60, 20)) as pilot:
        before = seen(app.transcript)
        other = Theme("other", primary="#102030", foreground="#fafafa", background="#000000", variables={**VARIABLES})
        other.variables["code-background"] = "#123456"
        app.register_theme(other)
        app.theme = "other"
        await pilot.pause()
        assert seen(app.transcript) == before
        styles = [seg.style for strip in app.transcript.render_lines(app.transcript.size.region) for seg in strip]
        assert any(style and style.bgcolor and style.bgcolor.name == "#123456" for style in styles)


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down(Transcript, offset=start)
    await pilot.hover(Transcript, offset=end)
    await pilot.mouse_up(Transcript, offset=end)
    await pilot.pause()


async def test_selection_by_mouse_gives_clean_text_across_messages() -> None:
    text = "A sentence that is wrapped since it is long, 中文也一样换行。\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    app = Harness([Entry("1", "user", "The question"), Entry("2", "assistant", text, model="tiny")])
    async with app.run_test(size=(40, 20)) as pilot:
        assert seen(app.transcript)[1] == "▌ The question"
        await drag(pilot, (6, 1), (39, 10))
        assert app.screen.get_selected_text() == f"question\n\ntiny\n{text}"
        grounds = {s.text: s.style.bgcolor for s in app.transcript.render_lines(Region(0, 1, 39, 1))[0] if s.style}
        assert grounds["question"] != grounds["The "]


async def test_a_selection_stays_on_its_text_while_more_streams_in_above_and_below() -> None:
    app = Harness([Entry("1", "assistant", "One", reasoning="hm"), Entry("2", "user", "Pick me please")])
    async with app.run_test(size=(60, 30)) as pilot:
        view = app.transcript
        row = next(at for at, text in enumerate(seen(view)) if "Pick" in text)
        await drag(pilot, (7, row), (8, row))
        assert app.screen.get_selected_text() == "me"
        view.begin(Entry("3", "assistant", LONG))
        flush(view)
        assert app.screen.get_selected_text() == "me"


async def test_scrolling_by_fractions_of_a_row_gets_somewhere() -> None:
    app = Harness(talk(40))
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        top = view.scroll_offset.y
        for _frame in range(12):
            view.scroll_y -= 0.25
        assert top - view.scroll_offset.y in (3, 4)


async def test_everything_can_be_selected_without_laying_it_out() -> None:
    app = Harness(talk(300))
    async with app.run_test(size=(60, 20)):
        app.transcript.text_select_all()
        copied = app.screen.get_selected_text() or ""
        assert all(f"Message {n} " in copied for n in range(300))
        assert sum(item.layout is not None for item in app.transcript._ledger.items) < 40


async def test_clicking_and_dragging_while_a_reply_streams() -> None:
    app = Harness(talk(5))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        for turn in range(4):
            view.feed("r", "- item **bold** text\n```py\ncode()\n```\n")
            await pilot.mouse_down(Transcript, offset=(turn * 3, turn + 2))
            flush(view)
            await pilot.hover(Transcript, offset=(turn + 9, turn + 6))
            view.feed("r", "| a |\n|---|\n| b |\n\n")
            flush(view)
            await pilot.mouse_up(Transcript, offset=(turn + 9, turn + 6))
            await pilot.click(Transcript, offset=(turn, turn))
        view.set_entries([])
        await pilot.click(Transcript, offset=(3, 3))
        assert app.is_running


async def test_reasoning_unfolds_by_click_and_by_key() -> None:
    app = Harness([Entry("1", "assistant", "Yes.", reasoning="Because of it.")])
    async with app.run_test(size=(60, 20)) as pilot:
        assert seen(app.transcript)[1] == "┃ ▸ reasoning, 3 words"
        await pilot.click(Transcript, offset=(6, 1))
        assert seen(app.transcript)[1:3] == ["┃ ▾ reasoning, 3 words", "┃ │ Because of it."]
        await pilot.press("enter")
        assert seen(app.transcript)[1:3] == ["┃ ▸ reasoning, 3 words", "┃ Yes."]


async def test_only_web_links_answer_a_click() -> None:
    app = Harness([Entry("1", "assistant", "[a](https://a.example) [b](vscode://x) [@click=app.quit]x[/]")])
    async with app.run_test(size=(80, 20)) as pilot:
        row = seen(app.transcript)[1]
        for word in ("a (", "b (", "@click"):
            await pilot.click(Transcript, offset=Offset(row.index(word), 1))
        await pilot.pause()
        assert app.heard == ["https://a.example"]
        assert app.is_running


async def test_the_timer_only_runs_while_text_arrives() -> None:
    app = Harness(talk(3))
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        assert not view._feed.running
        view.begin(Entry("r", "assistant", ""))
        view.feed("r", "text")
        assert view._feed.running
        for _tick in range(IDLE_TICKS + 2):
            view._feed.tick()
        assert not view._feed.running
        view.feed("r", " more")
        assert view._feed.running


async def test_a_reply_that_streams_fast_is_laid_out_by_the_frame() -> None:
    app = Harness()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        flushes = 0

        def count(_indexes: list[int]) -> None:
            nonlocal flushes
            flushes += 1

        view._feed._flushed = count
        for turn in range(1_000):
            view.feed("r", f"word{turn} ")
        await pilot.pause()
        assert flushes < 10


async def test_ten_thousand_entries_lay_out_a_screen() -> None:
    app = Harness()
    async with app.run_test(size=(100, 40)) as pilot:
        view = app.transcript
        view.set_entries(talk(10_000))
        await pilot.press("pageup", "pageup", "g", "G")
        view.add(Entry("last", "user", "One more"))
        assert sum(item.layout is not None for item in view._ledger.items) < 150
        assert seen(view)[-2] == "┃ One more"


async def test_entries_that_are_gone_are_ignored() -> None:
    app = Harness(talk(2))
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        before = seen(view)
        view.feed("gone", "text")
        view.feed_reasoning("gone", "text")
        view.finish("gone", state="complete")
        view.replace("gone", Entry("x", "user", "x"))
        view.feed("0", "a message that is complete takes no more")
        assert seen(view) == before


async def test_an_entry_is_replaced_in_its_place() -> None:
    app = Harness(talk(2))
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        view.replace("r", Entry("r-error", "error", "It failed.", title="Model"))
        view.add(Entry("r-error", "error", "It failed again.", title="Model"))
        assert [entry.key for entry in view.entries] == ["0", "1", "r-error"]
        assert "│ It failed again. │" in seen(view, bars=False)


async def test_selection_shows_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Harness([Entry("1", "user", "Pick me please")])
    async with app.run_test(size=(60, 20)) as pilot:
        await drag(pilot, (2, 1), (6, 1))
        strip = app.transcript.render_lines(app.transcript.size.region)[1]
        assert any(segment.style and segment.style.reverse for segment in strip)


async def test_entries_may_come_before_the_screen() -> None:
    view = Transcript()
    view.set_entries(talk(3))
    view.begin(Entry("r", "assistant", ""))
    view.feed("r", "early")
    app = Harness()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.mount(view)
        await pilot.pause()
        assert "▏ early" in seen(view)
