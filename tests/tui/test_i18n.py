"""The interface language: chosen by locale, and not one string without a translation."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import memory.errors
from memory.config import AgentSettings, Home, LLMSettings, MCPSettings, PersonaSettings, Settings
from memory.provider.factory import list_choices
from memory.store.run_store import INTERRUPTED
from memory.subagents.conversation import AGENT_WITHOUT_TOOLS
from memory.subagents.run import WAITS
from memory.tools import fetch_url, files, mcp_tools, memory_save
from memory.tools.taint import TAINTED
from memory.turns.asking import NO_PERSONA, NO_TOOLS
from memory.types import MemoryType, Role
from orca_tui import settings_pages
from orca_tui.commands import COMMANDS
from orca_tui.core_words import core_said
from orca_tui.i18n import _, language, set_language
from orca_tui.i18n_zh import TEXTS
from orca_tui.journal_lines import ACTIONS, REASONS
from orca_tui.memory_keys import MEMORY_KEYS
from orca_tui.message_keys import MESSAGE_KEYS
from orca_tui.pages import EDITOR_KEYS
from orca_tui.screens.model_picker import OTHER
from orca_tui.search_filters import FILTER_KEYS
from orca_tui.session_keys import SESSION_KEYS
from orca_tui.settings_keys import WIDGETS, widget_bindings
from orca_tui.settings_pages import PAGES, Deed, Heading
from orca_tui.settings_words import WORD_MEANINGS, WORDS

EVERYTHING = Settings(personas={"x": PersonaSettings()}, agents={"x": AgentSettings()}, mcp={"x": MCPSettings()})
"""Settings with one section of every kind."""
ROOM = Path(__file__).parents[2] / "orca_tui"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    set_language("en")


def written() -> dict[str, str]:
    """Every `_("…")` of the app with the place of its first use; calls with something else as text are left out."""
    found: dict[str, str] = {}
    for path in sorted(ROOM.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_" and node.args:
                text = node.args[0]
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found.setdefault(text.value, f"{path.relative_to(ROOM)}:{node.lineno}")
    return found


def spoken() -> dict[str, str]:
    """Texts that reach `_` by a variable: commands and their groups, titles of errors, keys, states, roles, choices."""
    texts = {text: "commands.py" for command in COMMANDS for text in (command.summary, command.group)}
    texts |= {meaning: "pages.py" for _key, meaning in EDITOR_KEYS}
    texts |= dict.fromkeys(("stopped", "failed", "interrupted"), "render/frame.py")
    texts |= dict.fromkeys(get_args(Role), "pages.py")
    texts |= dict.fromkeys(("Local model", "Demo", OTHER), "screens/model_picker.py")
    texts |= {text: "message_keys.py" for key in MESSAGE_KEYS for text in (key.word, key.summary)}
    texts |= {text: "memory_keys.py" for key in MEMORY_KEYS for text in (key.word, key.summary)}
    texts |= {key.word: "search_filters.py" for key in FILTER_KEYS}
    texts |= {text: "session_keys.py" for key in SESSION_KEYS for text in (key.word, key.summary)}
    texts |= dict.fromkeys((*get_args(MemoryType), *ACTIONS, *REASONS), "widgets/memory_detail.py")
    texts |= {text: "settings_words.py" for words in WORDS.values() for text in words}
    texts |= {text: "settings_words.py" for text in WORD_MEANINGS.values() if text not in ("English", "中文")}
    texts |= dict.fromkeys((*PAGES.values(), *(heading for heading, _module, _name in WIDGETS)), "settings_pages.py")
    items = [item for page in PAGES for item in settings_pages.items(page, EVERYTHING)]
    texts |= {item.text: "settings_pages.py" for item in items if isinstance(item, Heading) and not item.is_name}
    texts |= {item.text: "settings_pages.py" for item in items if isinstance(item, Deed)}
    texts |= {one.description: module for _heading, module, name in WIDGETS for one in widget_bindings(module, name)}
    reasons = (TAINTED, memory_save.REASON, files.REASON, fetch_url.REASON, fetch_url.PRIVATE)
    texts |= dict.fromkeys((*reasons, mcp_tools.NEW, mcp_tools.CHANGED, mcp_tools.CALL, INTERRUPTED), "memory/tools")
    texts |= dict.fromkeys((WAITS, AGENT_WITHOUT_TOOLS), "memory/subagents")
    texts |= dict.fromkeys((NO_TOOLS, NO_PERSONA), "memory/turns/asking.py")
    for value in vars(memory.errors).values():
        if isinstance(value, type) and issubclass(value, memory.errors.OrcaError):
            texts[value.title] = "memory/errors.py"
    return texts


def placeholders(text: str) -> list[str]:
    return sorted(name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None)


async def test_what_the_core_says_of_a_choice_is_translated(home: Path) -> None:
    set_language("zh")
    settings = Settings(llm=LLMSettings(provider="ollama", base_url="http://127.0.0.1:9/v1", model="m"))
    for found in (Settings(), settings):
        for choice in await list_choices(found, Home(home), {}):
            assert core_said(choice.detail) != choice.detail


def test_every_text_is_translated() -> None:
    missing = {text: place for text, place in (written() | spoken()).items() if text not in TEXTS}
    assert missing == {}


def test_no_translation_is_left_over() -> None:
    assert sorted(set(TEXTS) - set(written()) - set(spoken())) == []


def test_placeholders_are_the_same() -> None:
    assert not {text: zh for text, zh in TEXTS.items() if placeholders(text) != placeholders(zh)}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "ZH_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US", "LC_ALL": "", "LC_MESSAGES": "zh_CN"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
    ],
)
def test_the_locale_decides(env: dict[str, str], expected: str) -> None:
    assert set_language("auto", env) == expected
    assert language() == expected


def test_a_choice_wins_over_the_locale() -> None:
    assert set_language("en", {"LANG": "zh_CN"}) == "en"
    assert set_language("zh", {"LANG": "en_US"}) == "zh"
    assert _("Memory") == "记忆"


def test_values_are_filled_in_and_never_read() -> None:
    assert _("{n} waiting", n=3) == "3 waiting"
    set_language("zh")
    assert _("{n} waiting", n="{x}") == "{x} 条等待"
    assert _("no such text {n}", n=1) == "no such text 1"
    assert _("a {brace} without values") == "a {brace} without values"
