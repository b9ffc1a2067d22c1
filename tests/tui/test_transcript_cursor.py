"""The cursor of the transcript, what is chosen in a message, folding, and the search."""

from dataclasses import replace
from time import process_time

import pytest
from test_transcript import LONG, Harness, flush, seen, talk
from textual.theme import Theme

from orca_tui.render.entry import Call, Entry
from orca_tui.render.targets import code_in
from orca_tui.themes import VARIABLES
from orca_tui.widgets.transcript import Transcript

CODE = (
    "Try this:\n\n```python\nif a:\n\tprint('中文')\n\n```\n\nor [that](https://a.example/x) and\n\n"
    "> ```sh\n> ls -l\n> ```\n"
)


class Talking(Harness):
    """Keeps what the transcript asks for."""

    def on_transcript_asked(self, event: Transcript.Asked) -> None:
        self.heard.append((event.deed, event.key, event.text))


def at(view: Transcript) -> str:
    entry = view.current
    return entry.key if entry is not None else ""


def marked(view: Transcript) -> list[str]:
    return [row[2:] for row in seen(view) if row[:1] in ("❯", "┃")]


def lit(view: Transcript, style: str) -> list[str]:
    """Texts that are drawn in a way."""
    wanted = view._component(style)
    return [
        segment.text
        for strip in view.render_lines(view.size.region)
        for segment in strip
        if segment.style is not None and segment.style + wanted == segment.style
    ]


async def test_the_cursor_goes_by_messages_and_the_view_with_it() -> None:
    app = Harness(talk(60))
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.transcript
        await pilot.pause()
        assert at(view) == "59"
        assert view.at_end
        await pilot.press("k", "up", "k")
        assert at(view) == "56"
        for number in range(55, -1, -1):
            view.action_move(-1)
            assert at(view) == str(number)
            assert any(f"Message {number}" in row for row in marked(view))
        await pilot.press("k")
        assert at(view) == "0"
        assert view.scroll_y == 0
        for number in range(1, 60):
            view.action_move(1)
            assert at(view) == str(number)
            assert marked(view)[-1].split()[0] in ("Message", "word", str(number))
        assert view.at_end
        await pilot.press("j")
        assert at(view) == "59"


async def test_a_message_higher_than_the_view_is_read_before_the_next_comes() -> None:
    app = Harness([Entry("0", "user", "First"), Entry("1", "assistant", LONG), Entry("2", "user", "Last")])
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.transcript
        await pilot.press("g", "j")
        assert at(view) == "1"
        read: set[str] = set()
        while at(view) == "1":
            read |= {row for row in marked(view) if row.startswith("Paragraph")}
            view.action_move(1)
        assert len(read) == 40
        assert at(view) == "2"
        await pilot.press("k")
        assert at(view) == "1"
        assert "Paragraph 39" in " ".join(marked(view))


@pytest.mark.parametrize("half", [True, False])
async def test_pages_take_the_cursor_along(half: bool) -> None:
    app = Harness(talk(60))
    async with app.run_test(size=(60, 14)) as pilot:
        view = app.transcript
        await pilot.press("ctrl+u" if half else "pageup")
        for _turn in range(60):
            view.action_half_page(-1) if half else view.action_page_up()
            assert marked(view)
        assert at(view) == "0"
        await pilot.press("ctrl+d" if half else "pagedown")
        for _turn in range(60):
            view.action_half_page(1) if half else view.action_page_down()
            assert marked(view)
        assert at(view) == "59"
        assert view.at_end


async def test_a_reply_does_not_push_the_cursor_out_of_view() -> None:
    app = Harness(talk(20))
    async with app.run_test(size=(60, 16)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        await pilot.pause()
        assert at(view) == "r"
        await pilot.press("k")
        assert at(view) == "19"
        view.feed("r", LONG)
        flush(view)
        assert at(view) == "19"
        assert marked(view)
        assert not view.at_end
        await pilot.press("G")
        assert at(view) == "r"
        assert view.at_end
        view.feed("r", "\n\n" + LONG)
        flush(view)
        assert at(view) == "r"
        assert view.at_end


async def test_a_click_selects_a_message() -> None:
    app = Harness(talk(6))
    async with app.run_test(size=(60, 30)) as pilot:
        view = app.transcript
        row = next(at for at, text in enumerate(seen(view)) if "Message 2" in text)
        await pilot.click(Transcript, offset=(5, row))
        assert at(view) == "2"
        await pilot.press("tab")
        assert app.focused is not view
        assert at(view) == ""
        assert not marked(view)


async def test_links_and_code_are_targets() -> None:
    app = Talking([Entry("0", "user", "Hi"), Entry("1", "assistant", CODE)])
    async with app.run_test(size=(70, 30)) as pilot:
        view = app.transcript
        await pilot.press("tab")
        assert view.target is not None
        assert view.target.kind == "code"
        assert view.target.language == "python"
        assert view.target_count() == (1, 3)
        assert sum(row.startswith("█") for row in seen(view)) == 5
        await pilot.press("enter")
        await pilot.press("tab", "enter")
        assert "".join(lit(view, "chosen")) == "that (https://a.example/x)"
        await pilot.press("right_square_bracket", "enter", "right_square_bracket", "left_square_bracket")
        assert view.target_count() == (3, 3)
        await pilot.press("Y", "tab")
        assert app.focused is not view
        assert app.heard == [
            ("copy", "1", "if a:\n\tprint('中文')\n"),
            "https://a.example/x",
            ("copy", "1", "ls -l"),
            ("copy_code", "1", CODE),
        ]


def test_all_code_of_a_text_is_what_was_written() -> None:
    assert code_in(CODE) == ["if a:\n\tprint('中文')\n", "ls -l"]
    assert code_in("```\n```\nno \x1b]52;c;x\x07 code") == []
    assert code_in("- item\n\n      indented\x1b[2J\n") == ["indented␛[2J"]


async def test_keys_ask_for_what_the_message_can_have() -> None:
    app = Talking([Entry("7", "assistant", "Some *text*", model="tiny"), Entry("n", "notice", "A remark")])
    async with app.run_test(size=(70, 20)) as pilot:
        await pilot.press("y", "w", "i", "k", "y", "w", "plus", "minus", "i", "slash", "space", "Y")
        assert [(deed, key) for deed, key, _text in app.heard if deed] == [
            ("copy", "n"), ("nothing", "n"), ("nothing", "n"),
            ("copy", "7"), ("why", "7"), ("good", "7"), ("bad", "7"), ("details", "7"), ("search", "7"),
            ("nothing", "7"), ("nothing", "7"),
        ]  # fmt: skip
        assert app.heard[3] == ("copy", "7", "Some *text*")


async def test_the_source_is_shown_in_place_of_markdown() -> None:
    app = Harness([Entry("1", "assistant", "A **bold** word\n```\ncode\n```\n\x1b]52;c;eA==\x07")])
    async with app.run_test(size=(70, 20)) as pilot:
        view = app.transcript
        before = seen(view)
        await pilot.press("v")
        assert seen(view)[0].endswith("raw")
        assert seen(view)[1:5] == ["┃ A **bold** word", "┃ ```", "┃ code", "┃ ```"]
        assert "␛]52;c;eA==␇" in seen(view)[5]
        await pilot.press("v")
        assert seen(view) == before


async def test_long_texts_are_folded_until_asked_for() -> None:
    text = "\n".join([f"line {n}" for n in range(500)])
    app = Harness([Entry("0", "user", text), Entry("1", "assistant", "Hm.")])
    async with app.run_test(size=(60, 30)) as pilot:
        view = app.transcript
        await pilot.press("g")
        assert seen(view)[20:22] == ["┃ line 19", "┃ ▸ … 480 more lines"]
        view.text_select_all()
        assert text in (app.screen.get_selected_text() or "")
        app.screen.clear_selection()
        await pilot.press("space")
        assert seen(view)[21] == "┃ line 20"
        assert seen(view)[0] == "❯ You"
        await pilot.press("G", "k")
        assert "fold" in " ".join(marked(view))
        await pilot.press("z")
        assert seen(view)[0] == "❯ You"
        await pilot.click(Transcript, offset=(6, 21))
        assert "line 20" in seen(view)[21]


async def test_a_reply_that_came_while_one_looked_is_not_folded() -> None:
    app = Harness()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", ""))
        view.feed("r", "\n\n".join([f"Part {n}" for n in range(400)]))
        flush(view)
        view.finish("r", state="complete")
        await pilot.press("g")
        assert view._ledger.lay(0).height > 800
        await pilot.press("space")
        assert view._ledger.lay(0).height < 250


async def test_a_call_is_one_line_until_it_is_unfolded() -> None:
    call = Call('{"path": "notes.md", "lines": [1, 2]}', "done", 312)
    hostile = "\x1b]0;owned\x07 [red]x[/red]\n```\nrm -rf\n```"
    app = Harness([Entry("3", "tool", hostile, title="read_file\x1b[2J", call=call)])
    async with app.run_test(size=(70, 20)) as pilot:
        view = app.transcript
        assert seen(view)[:2] == ["❯ ▸ ⚙ read_file␛[2J  notes.md · done · 312 tokens", ""]
        await pilot.press("space")
        assert seen(view)[:5] == [
            "❯ ▾ ⚙ read_file␛[2J  notes.md · done · 312 tokens",
            "┃ path: notes.md",
            "┃ lines: [1, 2]",
            "┃",
            "┃ ␛]0;owned␇ [red]x[/red]",
        ]
        view.replace("3", replace(view.entries[0], call=replace(call, outcome="failed", tokens=0)))
        assert seen(view)[0].endswith("notes.md · failed")


async def test_a_message_that_waits_says_so() -> None:
    app = Harness([Entry("q", "user", "And then?", state="queued")])
    async with app.run_test(size=(60, 20)):
        assert seen(app.transcript)[:2] == ["❯ You  ◷ waiting", "┃ And then?"]


# search


TIDES = [
    Entry("0", "user", "When is high TIDE? 潮汐什么时候？"),
    Entry("1", "assistant", "The tide is `ti`de. " + "word " * 20 + "tide", reasoning="The tide tables"),
    Entry("2", "user", "\n".join(["x"] * 100 + ["the last tide"])),
    Entry("3", "assistant", "Nothing."),
]


async def test_search_marks_counts_and_goes_around() -> None:
    app = Harness(TIDES)
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        await pilot.press("g")
        assert view.search("tide")
        assert view.found[0] == 1
        assert lit(view, "hit-current") == ["TIDE"]
        places = []
        for _turn in range(6):
            await pilot.press("n")
            places.append((view.found, at(view)))
        # the reasoning is unfolded on the way, and the word that Markdown cuts is found where it is seen
        assert [(position, key) for (position, _total), key in places] == [
            (2, "1"), (3, "1"), (4, "1"), (5, "1"), (6, "2"), (1, "0"),
        ]  # fmt: skip
        assert places[-1][0] == (1, 6)
        await pilot.press("N")
        assert at(view) == "2"
        assert "the last tide" in " ".join(marked(view))
        await pilot.press("escape")
        assert not view.searching
        assert lit(view, "hit-current") == []
        assert at(view) == "2"


async def test_chinese_is_found_across_rows() -> None:
    app = Harness([Entry("0", "assistant", "海" * 29 + "潮汐表放在抽屉里，没有人看它。")])
    async with app.run_test(size=(34, 20)):
        view = app.transcript
        assert view.search("潮汐表")
        assert "".join(lit(view, "hit-current")) == "潮汐表"


async def test_what_is_not_there_is_told_and_nothing_moves() -> None:
    app = Harness(TIDES)
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        before = seen(view)
        assert not view.search("flood.*|(")
        assert view.found == (0, 0)
        assert seen(view) == before


async def test_others_jump_to_a_message_and_its_words() -> None:
    app = Harness(talk(200))
    async with app.run_test(size=(60, 20)):
        view = app.transcript
        view.app.query_one("Input").focus()
        assert view.jump_to(17, ["message", "word"])
        assert lit(view, "hit-current") == ["Message"]
        assert len(lit(view, "hit")) > 5
        assert any("Message 17" in row for row in seen(view))
        assert view.jump_to("42")
        assert "Message 42" in " ".join(seen(view)[:3])
        assert not view.searching
        assert not view.jump_to(1234)
        assert view.highlight(["word"]) > 100


async def test_any_size_with_cursor_and_search_while_text_streams() -> None:
    app = Harness(talk(10))
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.transcript
        view.begin(Entry("r", "assistant", "", reasoning="so"))
        view.search("message")
        for size in [(1, 1), (2, 3), (3, 1), (200, 60), (5, 5), (500, 200), (60, 20)]:
            await pilot.resize_terminal(*size)
            view.feed(
                "r", "中文 message 👩‍👩‍👧 | a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode message\n```\n\n- item\n\n"
            )
            flush(view)
            await pilot.press("n", "k", "k", "right_square_bracket", "space", "v", "j", "ctrl+d", "N", "pageup")
            assert all(strip.cell_length == view.size.width for strip in view.render_lines(view.size.region))
            assert 0 <= view._cursor < len(view.entries)


async def test_a_theme_changes_the_colours_of_marks() -> None:
    app = Harness(TIDES)
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.search("tide")
        other = Theme("other", primary="#102030", variables={**VARIABLES, "match-background": "#123456"})
        app.register_theme(other)
        app.theme = "other"
        await pilot.pause()
        assert lit(app.transcript, "hit-current")


async def test_marks_are_seen_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Harness(TIDES)
    async with app.run_test(size=(60, 40)) as pilot:
        await pilot.press("g")
        view = app.transcript
        view.search("tide")
        styles = {seg.text: seg.style for strip in view.render_lines(view.size.region) for seg in strip if seg.style}
        assert styles["TIDE"].reverse
        assert styles["tide"].underline


async def test_ten_thousand_messages_are_crossed_and_searched() -> None:
    app = Harness()
    async with app.run_test(size=(100, 40)) as pilot:
        view = app.transcript
        view.set_entries(talk(10_000))
        await pilot.pause()
        spent = process_time()
        for _turn in range(5):
            view.action_first()
            view.action_last()
        assert (process_time() - spent) / 10 < 0.5
        await pilot.press("g")
        assert at(view) == "0"
        assert view.search("message 9876 ")
        assert at(view) == "9876"
        assert view.found == (1, 1)
        assert sum(item.layout is not None for item in view._ledger.items) < 150
