"""`main`: from arguments to an exit code. Whatever happens, a person reads one or two lines and never a traceback.

Only argparse is imported before the arguments are known, so that `--help` and `--version` are quick. The app, which is
what no argument means, starts without even that.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from argparse import Namespace

    from memory.config import Home

FAILED, WRONG, INTERRUPTED = 1, 2, 130
MODULES = {"import": "import_chats"}
"""Commands whose module cannot have their name."""
OWNER_ONLY = 0o077
"""Whatever orca creates is for its owner only."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what `argv` says (default: the process's arguments) and tell the exit code.

    0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted. `--help`, `--version` and usage errors end by
    `SystemExit`, as is usual with argparse.
    """
    before = os.umask(OWNER_ONLY)
    try:
        _accept_any_text(sys.stdout, sys.stderr)
        return _run(_parse(sys.argv[1:] if argv is None else argv))
    finally:
        os.umask(before)


def _parse(argv: Sequence[str]) -> "Namespace | SimpleNamespace":
    if not argv:
        return SimpleNamespace(command=None, home=None, session=None)
    from orca_tui.cli.parser import build_parser

    return build_parser().parse_args(argv)


def _run(arguments: "Namespace | SimpleNamespace") -> int:
    from memory.errors import ConfigError, OrcaError
    from orca_tui.plain import complain

    try:
        return _dispatch(arguments)
    except ConfigError as error:
        complain(error)
        return WRONG
    except OrcaError as error:
        complain(error)
        return FAILED
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(arguments: "Namespace | SimpleNamespace") -> int:
    from memory.errors import OrcaError
    from orca_tui.log_file import log_to

    home = _home(arguments.home)
    with log_to(home) as log:
        try:
            command = arguments.command or "open_app"
            module = import_module(f"orca_tui.cli.{MODULES.get(command, command)}")
            code: int = module.run(arguments, home)
            sys.stdout.flush()
        except (OrcaError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in one line
            _report(error, home, log.masked)
            return FAILED
    return code


def _home(given: str | None) -> "Home":
    from memory.config import Home
    from memory.errors import ConfigError

    try:
        return Home.find(given)
    except (RuntimeError, OSError) as error:
        raise ConfigError("Your home directory cannot be found.", hint="Name another place: --home DIR") from error


def _report(error: Exception, home: "Home", masked: Callable[[str], str]) -> None:
    """An error that nobody foresaw: the traceback goes to the log, without the values of variables."""
    import traceback

    from memory.text import label
    from orca_tui.plain import complain
    from orca_tui.terminal import write_log

    write_log(home, masked("".join(traceback.format_exception(error))))
    reason = error.strerror if isinstance(error, OSError) else None
    name = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    where = f"It is described in {label(str(home.log))}." if home.log.exists() else "The log cannot be written."
    complain(f"An unexpected error ({name}). {where}")
    _forget_stdout()


def _accept_any_text(*streams: TextIO) -> None:
    """A terminal that cannot show a character gets a question mark instead of a failure."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _forget_stdout() -> None:
    """What is still buffered goes nowhere, so that Python does not complain of a reader or disk that is gone."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
