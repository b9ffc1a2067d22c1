"""What may be written behind `orca-tui sessions` and `orca-tui import`. Loads nothing of the core."""

import argparse
from collections.abc import Callable
from typing import Any

SOURCES = ("chatgpt", "claude", "elia", "orca")
"""Every `memory.migration.foreign.Source`; written out so that `--help` is quick."""


class SessionGrammar:
    """Adds the actions to a group of subcommands."""

    def __init__(self, actions: Any, shared: argparse.ArgumentParser, limit: Callable[[Any, int], None]) -> None:
        self._actions = actions
        self._shared = shared
        self._limit = limit

    def add_all(self) -> None:
        """Every action of `sessions`."""
        listing = self._action("list", "the newest sessions")
        states = ["open", "archived", "trashed", "any"]
        listing.add_argument("--state", choices=states, default="open", help="default: open")
        self._limit(listing, 20)
        show = self._action("show", "the messages of a session")
        show.add_argument(
            "id", metavar="ID", help="the session, by the first 4 or more characters of its id; or an old .jsonl file"
        )
        show.add_argument("--traces", action="store_true", help="with what subagents did for each message")
        search = self._action("search", "messages and summaries by text and meaning")
        search.add_argument(
            "query", nargs="+", metavar="QUERY", help="words and filters: role:user since:2026-11-01 session:ID"
        )
        self._limit(search, 10)
        rename = self._action("rename", "give a session another title")
        rename.add_argument("id", metavar="ID")
        rename.add_argument("title", nargs="+", metavar="TITLE")
        for name, about in (
            ("archive", "put sessions into the archive; they are still found by searches"),
            ("unarchive", "bring sessions back from the archive"),
            ("restore", "bring sessions back from the trash"),
            ("delete", "throw sessions away; they can be restored, and memories made from them stay"),
        ):
            deed = self._action(name, about)
            deed.add_argument("ids", metavar="ID", nargs="+")
            if name == "delete":
                deed.add_argument("--erase", action="store_true", help="erase them for good; cannot be undone")
                deed.add_argument("--yes", action="store_true", help="do it without asking")
        export = self._action("export", "write a session to a file")
        export.add_argument("id", metavar="ID")
        export.add_argument("file", nargs="?", metavar="FILE", help="- writes to stdout (default: named by title)")
        export.add_argument("--format", choices=["md", "json"], help="default: by the file's name, else md")
        export.add_argument("--force", action="store_true", help="replace the file when it is there")

    def _action(self, name: str, about: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._actions.add_parser(name, parents=[self._shared], help=about)
        parser.add_argument("--json", action="store_true", help="print JSON")
        return parser


def add_import(commands: Any, shared: argparse.ArgumentParser) -> None:
    """The command `import`."""
    take = commands.add_parser("import", parents=[shared], help="bring in chats of ChatGPT, Claude, Elia, or of orca")
    take.add_argument("file", metavar="FILE", help="the export: zip, JSON, SQLite file, or the unpacked directory")
    take.add_argument("--from", dest="source", choices=SOURCES, help="whose it is (default: seen from the file)")
    take.add_argument("--dry-run", action="store_true", help="only tell what would come in")
    take.add_argument("--json", action="store_true", help="print JSON")
