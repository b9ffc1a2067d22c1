"""What may be written on the command line. Help and usage errors are all that this module prints."""

import argparse
import sys
from typing import Any, Never

from orca_tui.cli.memory_parser import MemoryGrammar
from orca_tui.cli.sessions_parser import SessionGrammar, add_import

PROGRAM = "orca-tui"
EXAMPLES = """\
orca-tui                          open the app
orca-tui ask "Why is the sky blue?"
git diff | orca-tui ask           ask what comes through a pipe
orca-tui migrate old-sessions/    bring in conversations from JSONL files
orca-tui config set llm.api_key - paste a key without showing it
orca-tui doctor                   what works here, and what to do about the rest
"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are short and hold nothing that a terminal would obey."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> Never:
        """Say what is wrong and end with 2."""
        from memory.redaction import redact
        from memory.text import label

        sys.stderr.write(f"{PROGRAM}: {label(redact(message), 300)}\nSee: {self.prog} --help\n")
        raise SystemExit(2)


class ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        """Print it and end."""
        from importlib.metadata import version

        sys.stdout.write(f"{PROGRAM} {version(PROGRAM)}\n")
        parser.exit()


def build_parser() -> Parser:
    """The whole grammar. `command` is `None` when the app is to be opened."""
    parser = Parser(
        prog=PROGRAM,
        description="A terminal chat client that remembers. Without a command it opens the app.",
        epilog=f"examples:\n{EXAMPLES}",
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and end")
    parser.add_argument("--home", metavar="DIR", default=None, help="where orca keeps its files (also: ORCA_HOME)")
    parser.add_argument("--session", metavar="ID", default=None, help="open the app with this session")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    shared = Parser(add_help=False)
    shared.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="where orca keeps its files")
    _add_ask(commands, shared)
    _add_sessions(commands, shared)
    _add_memory(commands, shared)
    _add_migrate(commands, shared)
    _add_config(commands, shared)
    _add_key(commands, shared)
    _add_model(commands, shared)
    web = commands.add_parser("web", parents=[shared], help="serve the app to a browser on this machine only")
    web.add_argument("--port", type=_port, default=0, metavar="N", help="the port on 127.0.0.1 (default: any free one)")
    _add_mcp(commands, shared)
    _add_safety(commands, shared)
    doctor = commands.add_parser("doctor", parents=[shared], help="what works here, and what to do about the rest")
    _add_json(doctor)
    return parser


def _add_ask(commands: Any, shared: Parser) -> None:
    ask = commands.add_parser("ask", parents=[shared], help="ask once; the answer goes to stdout")
    ask.add_argument(
        "text", nargs="*", metavar="TEXT", help="the question; without it, or with -, it is read from stdin"
    )
    ask.add_argument("--session", metavar="ID", default=argparse.SUPPRESS, help="go on with this session")
    ask.add_argument("--no-memory", action="store_true", help="answer without what orca remembers")
    ask.add_argument("--model", metavar="NAME", help="ask this model instead of the configured one")
    _add_json(ask, "print the events, one JSON object a line")


def _add_sessions(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "sessions", "list, search, keep in order and export stored conversations")
    SessionGrammar(actions, shared, _add_limit).add_all()
    add_import(commands, shared)


def _add_memory(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "memory", "see, correct and prune what orca remembers")
    MemoryGrammar(actions, shared, _add_limit).add_all()


def _add_migrate(commands: Any, shared: Parser) -> None:
    migrate = commands.add_parser("migrate", parents=[shared], help="bring old session files into the database")
    migrate.add_argument(
        "path", nargs="?", metavar="PATH", help="a .jsonl file, or a directory with such files (default: those in home)"
    )
    migrate.add_argument("--dry-run", action="store_true", help="only tell what would come in")
    _add_json(migrate)


def _add_config(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "config", "show and change settings")
    actions.add_parser("path", parents=[shared], help="where the settings file is")
    _add_json(actions.add_parser("show", parents=[shared], help="every setting in force; keys are masked"))
    get = actions.add_parser("get", parents=[shared], help="one setting")
    get.add_argument("key", metavar="KEY", help="for example llm.model")
    _add_json(get)
    change = actions.add_parser("set", parents=[shared], help="change one setting; comments in the file survive")
    change.add_argument("key", metavar="KEY", help="for example llm.model")
    change.add_argument(
        "value", nargs="?", metavar="VALUE", help="the value; - reads it from stdin (the only way for keys)"
    )


def _add_key(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "key", "keys in the system's keyring, and where each key comes from")
    for action, about in (("set", "keep a key in the keyring; it is read from stdin"), ("remove", "take one out")):
        parser = actions.add_parser(action, parents=[shared], help=about)
        parser.add_argument(
            "section", choices=("llm", "siliconflow", "embedding"), help="the section of config.toml that it is for"
        )
        parser.add_argument("--name", metavar="NAME", help="the keyring's entry (default: the section)")
    _add_json(actions.add_parser("list", parents=[shared], help="where each key comes from; never the key itself"))


def _add_mcp(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "mcp", "MCP servers, and what of their tools models may use")
    _add_json(actions.add_parser("list", parents=[shared], help="start each server, and list its tools"))
    for action, about in (("test", "start one and list its tools"), ("allow", "let models use all that it offers now")):
        parser = actions.add_parser(action, parents=[shared], help=about)
        parser.add_argument("name", metavar="NAME", help="as in [mcp.NAME] of config.toml")
        if action == "test":
            _add_json(parser)


def _add_model(commands: Any, shared: Parser) -> None:
    actions = _group(commands, shared, "model", "models that run on this machine")
    _add_json(actions.add_parser("list", parents=[shared], help="installed models, and those to choose from"))
    add = actions.add_parser("add", parents=[shared], help="install a model")
    add.add_argument("source", nargs="?", default="builtin", metavar="SOURCE", help="builtin, a name, a path or a URL")
    add.add_argument("--name", metavar="NAME", help="what to call it")
    add.add_argument("--sha256", metavar="HEX", help="refuse the file when this is not its SHA-256")
    add.add_argument("--if-missing", action="store_true", help="do nothing when it is there")
    remove = actions.add_parser("remove", parents=[shared], help="delete an installed model")
    remove.add_argument("name", metavar="NAME")


def _add_safety(commands: Any, shared: Parser) -> None:
    backup = commands.add_parser("backup", parents=[shared], help="copy the database, verified, while it is in use")
    backup.add_argument("path", nargs="?", metavar="PATH", help="a new file, or a directory (default: backups in home)")
    _add_json(backup)
    restore = commands.add_parser("restore", parents=[shared], help="go back to a backup; the present one is kept")
    restore.add_argument("path", metavar="PATH", help="the file that backup wrote")
    _add_json(restore)
    recover = commands.add_parser("recover", parents=[shared], help="save what can be read of a damaged database")
    _add_json(recover)


def _group(commands: Any, shared: Parser, name: str, about: str) -> Any:
    group = commands.add_parser(name, parents=[shared], help=about)
    return group.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)


def _add_json(parser: argparse.ArgumentParser, about: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=about)


def _add_limit(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument("--limit", type=_count, default=default, metavar="N", help=f"at most this many ({default})")


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65_535:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 100_000:
        raise ValueError
    return number
