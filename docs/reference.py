"""Writes docs/keys.md and docs/keys.zh-CN.md from the registry of commands and keys.

python docs/reference.py    # a test fails when the two pages are not what this writes
"""

from collections.abc import Iterable
from pathlib import Path

from orca_tui import keys
from orca_tui.commands import COMMANDS, Command
from orca_tui.i18n import _, set_language
from orca_tui.memory_keys import MEMORY_KEYS
from orca_tui.memory_keys import PREFIX as MEMORY
from orca_tui.message_keys import MESSAGE_KEYS
from orca_tui.message_keys import PREFIX as MESSAGE
from orca_tui.pages import EDITOR_KEYS
from orca_tui.session_keys import PREFIX as SESSION
from orca_tui.session_keys import SESSION_KEYS

FOLDER = Path(__file__).parent
PAGES = {"en": FOLDER / "keys.md", "zh": FOLDER / "keys.zh-CN.md"}
WORDS = {
    "en": {
        "title": "Keys and commands",
        "about": "Made from the program's own registry. Every key can be changed below `[keys]` in the settings, by "
        'the name of the command or the name in the last column: `retry = "ctrl+y"`, `message_copy = "c"`. A command '
        "without a key can be given one.",
        "other": "[中文](keys.zh-CN.md)",
        "heads": ("key", "command", "does"),
        "named": ("key", "does", "name in `[keys]`"),
    },
    "zh": {
        "title": "按键与命令",
        "about": "由程序自己的登记表生成。所有按键都可以在设置的 `[keys]` 里改，用命令名或最后一列的名字："
        '`retry = "ctrl+y"`、`message_copy = "c"`。没有按键的命令也可以给它一个。',
        "other": "[English](keys.md)",
        "heads": ("按键", "命令", "作用"),
        "named": ("按键", "作用", "`[keys]` 里的名字"),
    },
}


def page(language: str) -> str:
    """One page in Markdown."""
    set_language("zh" if language == "zh" else "en")
    words = WORDS[language]
    lines = [f"# {words['title']}", "", str(words["other"]), "", str(words["about"])]
    for group in dict.fromkeys(command.group for command in COMMANDS):
        found = (command for command in COMMANDS if command.group == group)
        lines += _table(_(group), words["heads"], map(_command, found))
    lines += _table(_("Keys"), words["heads"][::2], ((_code(key), _(text)) for key, text in EDITOR_KEYS))
    named = (
        (_("On a message of the conversation"), MESSAGE, MESSAGE_KEYS),
        (_("On a memory: memory screen, sidebar, why"), MEMORY, MEMORY_KEYS),
        (_("On a session in the list"), SESSION, SESSION_KEYS),
    )
    for title, prefix, table in named:
        rows = ((shown(one.keys), _(one.summary), f"`{prefix}{one.name}`") for one in table)
        lines += _table(title, words["named"], rows)
    set_language("en")
    return "\n".join(lines) + "\n"


def shown(names: str) -> str:
    """Keys as a person reads them."""
    return ", ".join(_code(keys.display(key)) for key in keys.split(names) if key != "ctrl+underscore")


def _command(command: Command) -> tuple[str, str, str]:
    names = ", ".join(f"`/{name}`" for name in (command.name, *command.aliases))
    argument = f" `{command.argument}`".replace("|", "\\|") if command.argument else ""
    return shown(command.keys), names + argument, _(command.summary)


def _code(text: str) -> str:
    return f"`{text}`"


def _table(title: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    body = [f"| {' | '.join(row)} |" for row in rows]
    return ["", f"## {title}", "", f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *body]


if __name__ == "__main__":
    for code, target in PAGES.items():
        target.write_text(page(code), "utf-8")
