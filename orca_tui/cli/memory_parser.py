"""What may be written behind `orca-tui memory`. Loads nothing of the core, as `--help` is to be quick."""

import argparse
from collections.abc import Callable
from typing import Any

TYPES = ("preference", "fact", "decision", "project", "event", "skill", "constraint")
"""Every `memory.types.MemoryType`; written out for the same reason."""
STATUSES = ("active", "superseded", "archived", "expired", "trashed", "pending")
"""Every `memory.types.MemoryStatus`."""


class MemoryGrammar:
    """Adds the actions to a group of subcommands."""

    def __init__(self, actions: Any, shared: argparse.ArgumentParser, limit: Callable[[Any, int], None]) -> None:
        self._actions = actions
        self._shared = shared
        self._limit = limit

    def add_all(self) -> None:
        """Every action of `memory`."""
        self._reading()
        self._changing()
        self._reviewing()
        self._going_back()
        self._keeping_order()

    def _action(self, name: str, about: str, *, ids: str = "") -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._actions.add_parser(name, parents=[self._shared], help=about)
        parser.add_argument("--json", action="store_true", help="print JSON")
        if ids == "+":
            parser.add_argument("ids", type=_id, metavar="ID", nargs="+")
        elif ids:
            parser.add_argument("id", type=_id, metavar="ID")
        return parser

    def _reading(self) -> None:
        listing = self._action("list", "long-term memories, the newest first")
        listing.add_argument("--branch", metavar="NAME", action="append", help="only of this branch (may be repeated)")
        listing.add_argument("--status", choices=[*STATUSES, "any"], default="active", help="default: active")
        self._limit(listing, 50)
        search = self._action("search", "messages, summaries and memories by text and meaning")
        search.add_argument(
            "query", nargs="+", metavar="QUERY", help="words and filters: role:user branch:NAME since:2026-11-01"
        )
        self._limit(search, 10)
        self._action("show", "everything about a memory, with where it comes from", ids="1")
        self._limit(self._action("history", "every change of a memory, the newest first", ids="1"), 50)
        self._action("stats", "how much there is, what waits, what was dropped, and what does not work")

    def _changing(self) -> None:
        add = self._action("add", "remember something")
        add.add_argument("text", nargs="*", metavar="TEXT", help="without it, or with -, it is read from stdin")
        add.add_argument("--type", choices=TYPES, default="fact", help="default: fact")
        add.add_argument("--topic", metavar="KEY", help="what it is about; replaces what has the same key")
        add.add_argument("--importance", type=_share, default=0.6, metavar="0–1")
        add.add_argument("--project", metavar="NAME", help="tie it to a project")
        add.add_argument("--pin", action="store_true", help="let it go into every prompt that has room")
        edit = self._action("edit", "change a memory: its text in $EDITOR, or what is given", ids="1")
        edit.add_argument("--text", metavar="TEXT", help="the new text; - reads it from stdin")
        edit.add_argument("--type", choices=TYPES)
        edit.add_argument("--branch", metavar="NAME")
        edit.add_argument("--topic", metavar="KEY")
        edit.add_argument("--importance", type=_share, metavar="0–1")
        edit.add_argument("--confidence", type=_share, metavar="0–1")
        for name, about in (
            ("pin", "let memories go into every prompt that has room"),
            ("unpin", "let memories take their chance again"),
            ("archive", "keep memories, but out of searches and prompts"),
            ("trash", "throw memories away; they can be restored"),
            ("restore", "make memories active again"),
        ):
            self._action(name, about, ids="+")
        for name, about in (("promote", "hold a memory for more important"), ("demote", "hold it for less important")):
            self._action(name, about, ids="1").add_argument("--branch", metavar="NAME", help="move it there as well")
        merge = self._action("merge", "make one memory of several", ids="+")
        merge.add_argument("--text", metavar="TEXT", help="what it says (default: the longest of them)")
        erase = self._action("erase", "erase memories for good, from every table and file; cannot be undone", ids="+")
        erase.add_argument("--with-source", action="store_true", help="blank the messages they were taken from as well")
        _add_yes(erase)

    def _reviewing(self) -> None:
        self._limit(self._action("inbox", "what waits for review: it comes from tools, files or pasted text"), 50)
        self._action("accept", "let memories out of the inbox", ids="+")
        self._action("reject", "throw away what waits in the inbox", ids="+")
        rate = self._action("rate", "rate a reply: the memories that it was given win or lose confidence")
        rate.add_argument("message", type=_id, metavar="MESSAGE-ID")
        rate.add_argument("rating", choices=["up", "down"])
        rate.add_argument("--note", default="", metavar="TEXT")

    def _going_back(self) -> None:
        undo = self._action("undo", "take back the last change, or the last N")
        undo.add_argument("steps", nargs="?", type=_id, default=1, metavar="N")
        undo.add_argument("--event", type=_id, metavar="ID", help="the change with this id (see: memory history)")
        rollback = self._action("rollback", "give memories the state that they had at a time; shows it before")
        rollback.add_argument(
            "time", metavar="TIME", help="2026-03-01T12:00, or back from now: 30m (minutes), 2h, 3d, 1mo (months)"
        )
        rollback.add_argument("--until", metavar="TIME", help="undo only what was changed up to then")
        rollback.add_argument("--branch", metavar="NAME", help="only in this branch")
        rollback.add_argument("--project", metavar="NAME", help="only of this project; '' for none")
        _add_yes(rollback)

    def _keeping_order(self) -> None:
        prune = self._action("prune", "let go of many at once; shows what, and how many tokens it frees, before")
        which = prune.add_mutually_exclusive_group(required=True)
        which.add_argument("--expired", action="store_true", help="what is past its time")
        which.add_argument("--cold", action="store_true", help="what has not been used and matters little")
        which.add_argument("--duplicates", action="store_true", help="what another memory says as well")
        which.add_argument("--older-than", type=_days, metavar="DAYS", help="what was not used or changed for so long")
        which.add_argument("--ids", type=_id, nargs="+", metavar="ID")
        which.add_argument("--all", action="store_true", help="everything; together with --branch")
        prune.add_argument("--branch", metavar="NAME", help="only in this branch")
        prune.add_argument("--trash", action="store_true", help="throw away instead of archiving")
        _add_yes(prune)
        self._action("keep", "let memories stay that are proposed for archiving; undo takes it back", ids="+")
        both = self._action("keep-both", "two memories that say the same stay both; undo takes it back")
        both.add_argument("ids", type=_id, metavar="ID", nargs=2)
        self._action("maintain", "upkeep: expiry, copies, proposals, vectors; for cron")
        export = self._action("export", "write memories to a file or to stdout")
        export.add_argument("file", nargs="?", default="-", metavar="FILE")
        export.add_argument("--format", choices=["json", "markdown"], default="json")
        export.add_argument("--status", choices=[*STATUSES, "any"], default="any", help="default: any")
        export.add_argument("--history", action="store_true", help="with every change (JSON)")
        export.add_argument("--force", action="store_true", help="replace the file when it is there")
        take = self._action("import", "read memories; those that this orca did not export itself wait in the inbox")
        take.add_argument("file", metavar="FILE", help="- reads stdin")


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def _id(text: str) -> int:
    number = int(text)
    if not 1 <= number < 2**63:
        raise ValueError
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def _days(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 36_500:
        raise ValueError
    return number
