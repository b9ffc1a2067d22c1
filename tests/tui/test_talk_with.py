"""What goes along with a talk: files, personas, a model and parameters of the session, the user's own editor."""

import json
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from app_support import SETTINGS, idle, make_app, running, screen_text, until, write
from test_talk import Talker, app_of, at_message, say, shown, talk_app
from textual import events
from textual.pilot import Pilot

from memory.config import AgentSettings, Home, PersonaSettings
from memory.errors import OrcaError
from orca_tui import external_editor
from orca_tui.app import OrcaApp
from orca_tui.attaching import completions, pasted_path, paths_in
from orca_tui.commands import escape, parse, unescape
from orca_tui.draft import read_draft
from orca_tui.external_editor import command_of
from orca_tui.screens.model_picker import ModelPicker
from orca_tui.screens.own_model import OwnModel
from orca_tui.screens.personas import PersonaScreen
from orca_tui.screens.text_form import TextForm

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
DATA = Path(__file__).parents[1] / "data"


def corpus(name: str) -> list[str]:
    lines = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    return [str(one.get("text", one)) if isinstance(one, dict) else str(one) for one in lines]


def chips(app: OrcaApp) -> list[str]:
    return [file.attachment.name for file in app.writing.files]


async def command(pilot: Pilot[object], text: str) -> None:
    """Run a slash command, to its end."""
    await write(pilot, text)
    await until(pilot, lambda: app_of(pilot).chat.composer.text != text)
    await pilot.pause()


# files


async def test_files_go_with_a_message_and_are_told_in_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes on x.txt").write_text("The answer is 42.")
    (tmp_path / "p.png").write_bytes(PNG)
    app = talk_app(home, ["Seen.", "Again."])
    async with running(app) as pilot:
        await command(pilot, f"/attach {tmp_path}/notes on x.txt")
        await command(pilot, f"/attach {tmp_path}/p.png")
        await until(pilot, lambda: chips(app) == ["notes on x.txt", "p.png"])
        await until(pilot, lambda: "notes on x.txt 17 B ✕" in screen_text(app))
        await say(pilot, "What is in it?")
        assert chips(app) == []
        assert "📎 notes on x.txt (17 B)" in screen_text(app)
        assert "📎 p.png (72 B)" in screen_text(app)
        assert "The answer is 42." in app.chat.messages[0].content
        # an edit has them again
        await pilot.press("alt+e")
        await until(pilot, lambda: app.chat.composer.text == "What is in it?")
        assert chips(app) == ["notes on x.txt", "p.png"]
        await pilot.press("home", "backspace")
        assert chips(app) == ["notes on x.txt"]
        await pilot.press("enter")
        await until(pilot, lambda: app.chat.messages[-1].content == "Again.")
        assert [file["name"] for file in app.chat.messages[0].metadata["attachments"]] == ["notes on x.txt"]
        assert "The answer is 42." in app.chat.messages[0].content


async def test_a_file_alone_is_a_message(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    app = talk_app(home, ["Seen."])
    async with running(app) as pilot:
        await command(pilot, f"/attach {tmp_path}/a.txt")
        await until(pilot, lambda: chips(app) == ["a.txt"])
        await pilot.press("enter")
        await until(pilot, lambda: shown(app)[-1:] == ["Seen."])
        assert chips(app) == []


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [("gone.txt", None, "There is no file"), ("empty.txt", b"", "is empty"), ("b.bin", b"\0\1\2", "neither text nor")],
)
async def test_what_cannot_go_along_is_said(
    home: Path, tmp_path: Path, name: str, data: bytes | None, told: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    app = talk_app(home)
    async with running(app) as pilot:
        await command(pilot, f"/attach {tmp_path}/{name}")
        await until(pilot, lambda: told in screen_text(app))
        assert chips(app) == []


async def test_a_pasted_path_is_offered(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "my notes.txt"
    path.write_text("words")
    app = talk_app(home)
    async with running(app) as pilot:
        await write(pilot, "look: ", send=False)
        app.chat.composer.post_message(events.Paste(str(path).replace(" ", "\\ ")))
        await until(pilot, lambda: "is a file" in app.chat.tray.said)
        await pilot.press("alt+a")
        await until(pilot, lambda: chips(app) == ["my notes.txt"])
        assert app.chat.composer.text == "look: "
        assert "is a file" not in app.chat.tray.said


async def test_drafts_keep_their_files_by_path(home: Path, tmp_path: Path) -> None:
    kept, gone = tmp_path / "kept.txt", tmp_path / "gone.txt"
    kept.write_text("words")
    gone.write_text("words")
    app = talk_app(home)
    async with running(app) as pilot:
        for path in (kept, gone):
            await command(pilot, f"/attach {path}")
        await until(pilot, lambda: chips(app) == ["kept.txt", "gone.txt"])
    assert read_draft(Home(home)).files == (str(kept), str(gone))
    gone.unlink()
    again = talk_app(home)
    async with running(again) as pilot:
        await until(pilot, lambda: chips(again) == ["kept.txt"] and "There is no file" in screen_text(again))


async def test_tab_completes_paths(home: Path, tmp_path: Path) -> None:
    for name in ("alpha one.txt", "alpha two.txt", "[b]beta"):
        (tmp_path / name).write_text("x")
    app = talk_app(home)
    async with running(app) as pilot:
        await write(pilot, f"/attach {tmp_path}/al", send=False)
        await pilot.press("tab")
        await until(pilot, lambda: app.chat.composer.text == f"/attach {tmp_path}/alpha ")
        await until(pilot, lambda: "alpha two.txt" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.chat.composer.text == f"/attach {tmp_path}/alpha two.txt")
        await pilot.press("enter")
        await until(pilot, lambda: chips(app) == ["alpha two.txt"])
        await write(pilot, f"/attach {tmp_path}/[", send=False)
        await pilot.press("tab")
        await until(pilot, lambda: app.chat.composer.text.endswith("[b]beta"))


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.txt").write_text("x")
    (tmp_path / "c.txt").write_text("x")
    (tmp_path / "folder").mkdir()
    there = tmp_path / "a b.txt"
    assert paths_in("~/a b.txt") == [there]
    assert paths_in('c.txt "a b.txt"') == [Path("c.txt"), Path("a b.txt")]
    assert pasted_path(f"file://{tmp_path}/a%20b.txt") == there
    assert pasted_path(f"'{there}'") == there
    assert pasted_path("c.txt") is None  # a word, not a path
    assert pasted_path(str(tmp_path)) is None
    for text in ("", "/", "\0/x", "/" + "x" * 5000, "~nobody-here/x", "/x\n/y", "file://[", "'"):
        assert pasted_path(text) is None
    assert completions("~/") == ["~/a b.txt", "~/c.txt", "~/folder/"]
    assert completions("fo") == ["folder/"]
    assert completions("/no/such/place/") == []


async def test_hostile_names_of_files_are_only_names(home: Path, tmp_path: Path) -> None:
    app = talk_app(home)
    made = []
    for text in [*corpus("escapes.jsonl"), *corpus("markup.jsonl")][:60]:
        name = text.replace("/", "_").replace("\0", "")[:40]
        try:
            (tmp_path / name).write_text("x")
            made.append(name)
        except (OSError, ValueError):
            continue
    async with running(app) as pilot:
        from orca_tui.attaching import read

        app.writing.attach(read([tmp_path / name for name in made if (tmp_path / name).is_file()]))
        app.chat.composer.insert(f"/attach {tmp_path}/")
        await pilot.press("tab")
        await pilot.pause()
        assert "\x1b" not in screen_text(app)


# personas, system prompt, model, parameters


def with_personas(*names: str) -> dict[str, PersonaSettings]:
    return {name: PersonaSettings(prompt=f"You are {name}.", model="", temperature=0.1) for name in names}


async def test_a_persona_is_chosen_seen_and_used(home: Path) -> None:
    chat = Talker(["Aye."], name="scripted")
    app = make_app(home, chat=chat, settings=replace(SETTINGS, personas=with_personas("pirate", "clerk")))
    async with running(app) as pilot:
        await write(pilot, "/persona")
        await until(pilot, lambda: isinstance(app.screen, PersonaScreen))
        await pilot.press("j")
        await until(pilot, lambda: "You are pirate." in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "◇ pirate" in screen_text(app))
        await say(pilot, "hello")
        assert chat.requests[0][0].content.startswith("You are pirate.")
        assert chat.options[0] is not None
        assert chat.options[0].temperature == 0.1
        await command(pilot, "/persona none")
        await until(pilot, lambda: "◇" not in screen_text(app))
        await command(pilot, "/persona nobody")
        await until(pilot, lambda: "There is no persona" in screen_text(app))
        await command(pilot, "/persona clerk")
        await until(pilot, lambda: "◇ clerk" in screen_text(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "◇" not in screen_text(app))  # a new session begins as usual


async def test_hostile_personas_are_only_words(home: Path) -> None:
    texts = [*corpus("escapes.jsonl"), *corpus("markup.jsonl")]
    personas = {text or "x": PersonaSettings(prompt=text, model=text) for text in texts}
    app = make_app(home, settings=replace(SETTINGS, personas=personas))
    async with running(app) as pilot:
        await write(pilot, "/persona")
        await until(pilot, lambda: isinstance(app.screen, PersonaScreen))
        for _step in range(30):
            await pilot.press("down")
        assert "\x1b" not in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat)
        await pilot.pause()
        assert "\x1b" not in screen_text(app)


async def test_the_system_prompt_of_a_session(home: Path) -> None:
    chat = Talker(["Yes."], name="scripted")
    app = make_app(home, chat=chat)
    async with running(app) as pilot:
        await command(pilot, "/system Answer with one word.")
        await say(pilot, "hello")
        assert chat.requests[0][0].content.startswith("Answer with one word.")
        await write(pilot, "/system")
        await until(pilot, lambda: isinstance(app.screen, TextForm))
        await pilot.press("x", "escape")
        await until(pilot, lambda: "Esc again drops" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.chat.target.options.system_prompt == "Answer with one word.x")


async def test_parameters_of_a_session(home: Path) -> None:
    chat = Talker(["Yes."], name="scripted")
    app = make_app(home, chat=chat)
    async with running(app) as pilot:
        for text in ("temperature 0.3", "top_p 0.9", 'stop ["x"]'):
            await command(pilot, f"/set {text}")
        await until(pilot, lambda: len(app.chat.target.options.parameters) == 2)
        await say(pilot, "hello")
        assert chat.options[0] is not None
        assert (chat.options[0].temperature, dict(chat.options[0].extra)) == (0.3, {"top_p": 0.9, "stop": ["x"]})
        for text, told in {
            "temperature 3": "0 to 2",
            "temperature nan": "0 to 2",
            "max_tokens -1": "whole number",
            "messages []": "cannot be set here",
            "temperature": "Say a value",
        }.items():
            await command(pilot, f"/set {text}")
            await until(pilot, lambda told=told: told in screen_text(app))
        await command(pilot, "/set")
        await until(pilot, lambda: "temperature 0.3" in app.chat.hint_line.remark)
        await command(pilot, "/set reset")
        await until(pilot, lambda: app.chat.target.options.facts() == {})


async def test_a_model_for_this_session_only(home: Path) -> None:
    app = talk_app(home)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "only for this session" in screen_text(app))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, OwnModel))
        await pilot.press(*"other", "enter")
        await until(pilot, lambda: "other · this session" in screen_text(app))
        await command(pilot, "/model default")
        await until(pilot, lambda: "this session" not in app.chat.status.render().plain)
        await pilot.press("ctrl+n")
        assert app.chat.target.options.model == ""


# the user's own editor


class FakeDriver:
    can_suspend = True


async def test_the_editor_gets_a_private_file_and_gives_its_text_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def write_more(command: Sequence[str]) -> int:
        path = Path(command[-1])
        seen.extend(stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent))
        path.write_text(path.read_text() + " and more\n")
        return 0

    monkeypatch.setattr(external_editor, "_call", write_more)
    app = talk_app(home)
    app.env = {"EDITOR": "true --wait"}
    async with running(app) as pilot:
        monkeypatch.setattr(type(app._driver), "can_suspend", True)
        await write(pilot, "some text", send=False)
        monkeypatch.setattr(app, "lent_terminal", _nothing)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.chat.composer.text == "some text and more")
        assert seen == [0o600, 0o700]
        monkeypatch.setattr(external_editor, "_call", lambda command: 3)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "ended with 3" in screen_text(app))
        assert app.chat.composer.text == "some text and more"
        app.env = {}
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "No editor is set" in screen_text(app))


def _nothing() -> object:
    from contextlib import nullcontext

    return nullcontext()


def test_which_editor() -> None:
    assert command_of({"VISUAL": "true -w", "EDITOR": "false"}) == ["true", "-w"]
    for env in ({}, {"EDITOR": "  "}, {"EDITOR": "'"}, {"EDITOR": "no-such-editor-here"}):
        with pytest.raises(OrcaError):
            command_of(env)


async def test_a_message_that_looks_like_a_command_is_edited_as_a_message(home: Path) -> None:
    app = talk_app(home, ["One.", "Two."])
    async with running(app) as pilot:
        await say(pilot, "//agent is a word")
        assert shown(app)[0] == "/agent is a word"
        await at_message(pilot, 0)
        await pilot.press("e")
        await until(pilot, lambda: app.chat.composer.text == "//agent is a word")
        await pilot.press("full_stop", "enter")
        await until(pilot, lambda: shown(app) == ["/agent is a word.", "Two."])
        assert app.writing.editing is None


@pytest.mark.parametrize("text", ["/x", "//x", "/usr/bin", "a\n/b", "/x\ny", "", "/ ", "///"])
def test_what_is_written_for_a_text_gives_it_and_is_no_command(text: str) -> None:
    assert unescape(escape(text)) == text
    assert parse(escape(text)) is None


async def test_a_task_for_an_agent_is_done_again_and_not_edited(home: Path) -> None:
    agents = {"clerk": AgentSettings(description="Does clerical work.", prompt="clerk")}
    app = make_app(home, chat=Talker(["Done."]), settings=replace(SETTINGS, agents=agents))
    async with running(app) as pilot:
        await say(pilot, "/agent clerk sort the files")
        await until(pilot, lambda: len(app.chat.messages) == 2)
        first = app.chat.messages[1]
        await pilot.press("alt+e")
        await until(pilot, lambda: "cannot be edited" in screen_text(app))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(app.chat.messages) == 2 and app.chat.messages[1].id != first.id)
        await idle(pilot)
        assert app.chat.messages[0].content == "/agent clerk sort the files"
        assert "agent_run" in app.chat.messages[1].metadata
