"""The registry, slash commands and keys: pure, no screen."""

import inspect

import pytest

from orca_tui import keys
from orca_tui.actions import Actions, _method
from orca_tui.commands import BY_NAME, COMMANDS, bindings, default_keys, parse, unescape


def test_every_command_has_a_handler_and_a_line_of_its_own() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))
    for command in COMMANDS:
        assert inspect.iscoroutinefunction(getattr(Actions, _method(command.name))), command.name
        assert command.summary
        assert command.group


def test_no_default_key_is_given_twice() -> None:
    given = [key for text in default_keys().values() for key in keys.split(text)]
    assert len(given) == len(set(given))


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/help", "help", ""),
        ("  /theme abyss ", "theme", "abyss"),
        ("/?", "?", ""),
        ("/MEMORY two words", "MEMORY", "two words"),
        ("/nonsense", "nonsense", ""),
    ],
)
def test_slash_commands_are_read(text: str, name: str, argument: str) -> None:
    slash = parse(text)
    assert slash is not None
    assert (slash.name, slash.argument) == (name, argument)
    assert (slash.command is None) == (name == "nonsense")


@pytest.mark.parametrize("text", ["hello", "", "/", "//help", "/usr/bin is where", "/help\nand more", "1/2", "/ help"])
def test_other_text_is_text(text: str) -> None:
    assert parse(text) is None


def test_two_slashes_send_one() -> None:
    assert unescape("//help") == "/help"
    assert unescape("a // b") == "a // b"


def test_a_chosen_key_replaces_the_default_and_is_taken_from_others() -> None:
    keymap = keys.resolve({"new": "ctrl+n", "quit": "ctrl+q"}, {"new": "ctrl+q"})
    assert keymap.keys == {"new": "ctrl+q", "quit": ""}
    assert keymap.problems == ()


def test_a_clash_and_an_unknown_action_are_told_once_each() -> None:
    keymap = keys.resolve({"new": "ctrl+n", "quit": "ctrl+q"}, {"new": "f5", "quit": "f5,f7", "nwe": "f8"})
    assert keymap.keys == {"new": "f5", "quit": "f7"}
    (clash,) = keymap.problems
    assert "F5" in clash
    (unknown,) = keymap.unknown(["send"])
    assert "nwe" in unknown


def test_keys_of_widgets_go_to_textual() -> None:
    keymap = keys.resolve({"new": "ctrl+n"}, {"send": "ctrl+enter"})
    assert keymap.others == {"send": "ctrl+enter"}
    assert keymap.unknown(["send"]) == []


def test_an_empty_key_switches_one_off() -> None:
    keymap = keys.resolve(default_keys(), {"new": ""})
    assert "new" not in {binding.id for binding in bindings(keymap)}


@pytest.mark.parametrize(
    ("key", "long", "short"),
    [
        ("ctrl+n", "Ctrl+N", "^N"),
        ("f1", "F1", "F1"),
        ("escape", "Esc", "Esc"),
        ("alt+shift+up", "Alt+Shift+↑", "Alt+Shift+↑"),
    ],
)
def test_keys_as_a_person_reads_them(key: str, long: str, short: str) -> None:
    assert keys.display(key) == long
    assert keys.display(key, short=True) == short


def test_every_alias_leads_to_its_command() -> None:
    assert BY_NAME["?"].name == "help"
    assert BY_NAME["exit"].name == "quit"
