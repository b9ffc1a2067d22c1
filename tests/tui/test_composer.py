"""The composer: sends, grows, remembers, completes, takes any paste and lets no control character out."""

from time import perf_counter

import pytest
from hosts import HOSTILE, Host, drawn, unsafe_in
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from memory.text import repair
from orca_tui.figures import size_words
from orca_tui.widgets.composer import Composer
from orca_tui.widgets.input_history import InputHistory
from orca_tui.widgets.key_paste import Enter, KeyPaste
from orca_tui.widgets.pastes import MAX_BYTES, Pastes
from orca_tui.widgets.veil import unveil, veil, visible


def host() -> tuple[Host, Composer]:
    composer = Composer()
    return Host(composer), composer


def sent(app: Host) -> list[str]:
    return [message.text for message in app.posted if isinstance(message, Composer.Submitted)]


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()


async def test_enter_sends_and_keeps_the_text_until_it_is_stored() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"hi", "enter")
        assert sent(app) == ["hi"]
        assert composer.value == "hi"
        composer.clear_sent()
        assert composer.value == ""
        composer.clear_sent()
        assert composer.value == ""


async def test_what_is_typed_after_sending_stays() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"one", "ctrl+j", *"two", "enter", *" more")
        composer.clear_sent()
        assert sent(app) == ["one\ntwo"]
        assert composer.value == " more"


async def test_blank_text_is_not_sent() -> None:
    app, _composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("enter", "space", "ctrl+j", "enter")
        assert sent(app) == []


async def test_grows_to_eight_rows_and_then_scrolls() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 24)) as pilot:
        assert composer.outer_size.height == 3
        composer.load_text("\n".join("abc"))
        await pilot.pause()
        assert composer.outer_size.height == 5
        composer.load_text("\n".join("abcdefghijkl"))
        await pilot.pause()
        assert composer.outer_size.height == 10
        assert composer.cursor_location == (11, 1)
        composer.clear()
        await pilot.pause()
        assert composer.outer_size.height == 3


async def test_keys_can_be_remapped() -> None:
    app, composer = host()
    app.set_keymap({"send": "ctrl+s", "newline": "enter"})
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "enter", "b", "ctrl+s")
        assert sent(app) == ["a\nb"]
        assert composer.value == "a\nb"


async def test_tab_is_left_to_focus() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "tab")
        assert composer.value == "a"


# history


async def test_history_at_the_edges_keeps_the_draft() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_history(["first", "second\nline"])
        await pilot.press(*"draft", "up")
        assert composer.value == "second\nline"
        await pilot.press("up")
        assert composer.value == "first"
        await pilot.press("up")
        assert composer.value == "first"
        await pilot.press("!", "down")
        assert composer.value == "second\nline"
        await pilot.press("up", "up")
        assert composer.value == "!first"
        await pilot.press("down", "down", "down")
        assert composer.value == "draft"


async def test_up_moves_inside_a_text_first() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_history(["old"])
        await pilot.press("a", "ctrl+j", "b", "up")
        assert composer.value == "a\nb"
        await pilot.press("up")
        assert composer.value == "old"


async def test_what_was_sent_is_the_newest_history() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"one", "enter")
        composer.clear_sent()
        await pilot.press("up")
        assert composer.value == "one"


def test_history_is_bounded_and_skips_repeats() -> None:
    history = InputHistory()
    history.replace(["", "  ", "a"])
    history.add("a")
    assert history.move(-1, "") == "a"
    assert history.move(-1, "") is None
    assert history.move(1, "") == ""


# paste


async def test_a_small_paste_is_text_and_never_sends() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "one\r\ntwo\rthree\x1b[201~\n")
        assert composer.value == "one\ntwo\nthree\n"
        assert sent(app) == []


@pytest.mark.parametrize(
    ("text", "words"), [("line\n" * 685, "685 lines, 3 kB"), ("x" * 1_000_000, "one line, 1.0 MB")]
)
async def test_a_big_paste_folds_and_goes_out_whole(text: str, words: str) -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"see ")
        begun = perf_counter()
        await paste(pilot, text)
        assert perf_counter() - begun < 5
        assert composer.text == f"see ⟦paste 1: {words}⟧"
        assert composer.outer_size.height == 3
        await pilot.press("enter")
        assert sent(app) == [f"see {text}"]
        composer.clear_sent()
        await pilot.press("up")
        assert composer.value == f"see {text}"
        assert len(composer.text) < 100


async def test_a_folded_paste_is_one_piece_to_the_cursor() -> None:
    app, composer = host()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("a")
        await paste(pilot, "y\n" * 3000)
        end = composer.cursor_location
        await pilot.press("left")
        assert composer.cursor_location == (0, 1)
        await pilot.press("right")
        assert composer.cursor_location == end
        await pilot.press("backspace")
        assert composer.value == "a"
        await pilot.press("ctrl+z")
        assert composer.value == "a" + "y\n" * 3000


async def test_too_big_a_paste_is_refused_with_its_size() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a")
        await paste(pilot, "x" * (MAX_BYTES + 1))
        refused = [message for message in app.posted if isinstance(message, Composer.PasteRefused)]
        assert [(each.size, each.limit) for each in refused] == [(MAX_BYTES + 1, MAX_BYTES)]
        assert composer.value == "a"


async def test_a_paste_that_arrives_as_keys_breaks_lines() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        at = 1000.0
        for char in "ab\rcd\r\ref\r":
            key = events.Key("enter" if char == "\r" else char, char)
            key.time = at
            await composer._on_message(key)
            at += 0.0001
        await pilot.pause()
        assert composer.value == "ab\ncd\n\nef\n"
        assert sent(app) == []


async def test_an_enter_that_comes_with_the_last_key_still_sends() -> None:
    app, _composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        for char in "ab\r":
            app.post_message(events.Key("enter" if char == "\r" else char, char))
        for _attempt in range(50):
            await pilot.pause()
            if sent(app):
                break
        assert sent(app) == ["ab"]


def test_key_paste_tells_typing_from_bursts() -> None:
    watch = KeyPaste()
    assert watch.see(enter=False, time=0.0) is Enter.TYPED
    assert watch.see(enter=True, time=0.2) is Enter.TYPED
    assert watch.see(enter=False, time=0.4) is Enter.TYPED
    assert watch.see(enter=True, time=0.401) is Enter.HELD
    assert watch.see(enter=False, time=0.402) is Enter.BREAK_FIRST
    assert watch.see(enter=True, time=0.403) is Enter.BREAK
    assert watch.see(enter=True, time=0.6) is Enter.TYPED
    assert not watch.release()


# foreign text


@pytest.mark.parametrize("text", HOSTILE)
async def test_nothing_dangerous_is_drawn_and_nothing_is_lost(text: str) -> None:
    app, composer = host()
    async with app.run_test(size=(40, 20)) as pilot:
        await paste(pilot, text)
        assert not list(unsafe_in(drawn(app)))
        await pilot.press("enter")
        assert sent(app) == [repair(text)[0].replace("\r\n", "\n").replace("\r", "\n")]
        composer.clear_sent()
        await pilot.press("up")
        assert not list(unsafe_in(drawn(app)))
        assert "\x1b" not in app.export_screenshot()


@given(st.text(alphabet=st.characters(blacklist_categories=["Co"])))
def test_veil_loses_nothing(text: str) -> None:
    whole = repair(text)[0]
    hidden = veil(whole)
    assert unveil(hidden) == whole
    assert veil(hidden) == hidden
    assert len(hidden) == len(visible(hidden)) == len(whole)
    assert not list(unsafe_in(visible(hidden)))


async def test_a_glyph_of_several_characters_is_one_piece() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "a👨‍👩‍👧‍👦🇯🇵你")
        await pilot.press("left", "left", "backspace")
        assert composer.value == "a🇯🇵你"
        await pilot.press("delete")
        assert composer.value == "a你"


async def test_joiners_that_are_typed_are_kept() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        for char in "👩\u200d💻 می\u200cخواهم":
            app.post_message(events.Key("x", char))
        await pilot.pause()
        assert composer.value == "👩\u200d💻 می\u200cخواهم"


async def test_copy_gives_the_text_as_it_would_be_sent() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "z\n" * 4000)
        await pilot.press("f7", "ctrl+c")
        assert app.clipboard == "z\n" * 4000
        await pilot.press("ctrl+x")
        assert composer.value == ""
        await pilot.press("ctrl+v")
        assert composer.value == "z\n" * 4000


def test_pastes_expand_once() -> None:
    pastes = Pastes()
    inner = pastes.fold("a\n" * 600)
    outer = pastes.fold(f"{inner}\n" * 600)
    assert pastes.expand(outer) == f"{inner}\n" * 600
    assert pastes.fold("a\n" * 600) == inner


def test_sizes_are_written_for_people() -> None:
    assert [size_words(size) for size in (12, 34_000, 1_240_000)] == ["12 B", "34 kB", "1.2 MB"]


# commands

COMMANDS = [("help", "Show keys"), ("/history", "Look back"), ("model", "Choose a model"), ("remember", "Keep this")]


async def test_commands_complete() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands(COMMANDS)
        await pilot.press("slash", "h")
        assert "/help" in drawn(app)
        assert "/history" in drawn(app)
        await pilot.press("down", "tab")
        assert composer.value == "/history "
        assert "/help" not in drawn(app)


async def test_enter_accepts_and_then_sends() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands(COMMANDS)
        await pilot.press("slash", *"mod", "enter")
        assert composer.value == "/model "
        assert sent(app) == []
        await pilot.press("enter")
        assert sent(app) == ["/model "]


async def test_a_whole_command_is_sent_at_once() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands(COMMANDS)
        await pilot.press("slash", *"model", "enter")
        assert sent(app) == ["/model"]


async def test_escape_closes_the_menu_until_the_next_command() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands(COMMANDS)
        await pilot.press("slash", "m")
        assert "/model" in drawn(app)
        await pilot.press("escape", "o")
        assert "Choose a model" not in drawn(app)
        await pilot.press("backspace", "backspace", "backspace", "slash")
        assert "Choose a model" in drawn(app)


async def test_a_click_chooses_a_command() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands(COMMANDS)
        await pilot.press("slash")
        menu = composer._menu
        await pilot.click(menu, offset=(4, 3))
        assert composer.value == "/model "


async def test_hostile_command_texts_do_no_harm() -> None:
    app, composer = host()
    async with app.run_test(size=(60, 20)) as pilot:
        composer.set_commands([("x\x1b[31m", text) for text in HOSTILE[:9]] + [("y", "[/]")])
        await pilot.press("slash", "up")
        assert not list(unsafe_in(drawn(app)))
