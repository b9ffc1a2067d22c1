"""`main`: from arguments to an exit code. Whatever happens, a person reads one or two lines and never a traceback."""

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TextIO

from memory.config import Home
from memory.errors import ConfigError, OrcaError
from memory.text import label
from orca_tui.cli.parser import build_parser
from orca_tui.plain import complain

FAILED, WRONG, INTERRUPTED = 1, 2, 130
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
        return _run(build_parser().parse_args(argv))
    finally:
        os.umask(before)


def _run(arguments: Namespace) -> int:
    home: Home | None = None
    try:
        home = _home(arguments.home)
        module = import_module(f"orca_tui.cli.{arguments.command or 'open_app'}")
        code: int = module.run(arguments, home)
        sys.stdout.flush()
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
    except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in one line
        _report(error, home)
        return FAILED
    return code


def _home(given: str | None) -> Home:
    try:
        return Home.find(given)
    except (RuntimeError, OSError) as error:
        raise ConfigError("Your home directory cannot be found.", hint="Name another place: --home DIR") from error


def _report(error: Exception, home: Home | None) -> None:
    """An error that nobody foresaw: the traceback goes to the log, without the values of variables."""
    from orca_tui.terminal import write_log

    name = type(error).__name__
    if home is None:
        complain(f"An unexpected error ({name}).")
        return
    write_log(home, _without_secrets("".join(traceback.format_exception(error)), home))
    complain(f"An unexpected error ({name}). It is described in {label(str(home.log))}.")


def _without_secrets(text: str, home: Home) -> str:
    """The text with every key that this process could know masked."""
    from memory.settings import load_settings

    secrets = [value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN", "_SECRET"))]
    with suppress(OrcaError):
        settings = load_settings(home)
        secrets += [part.api_key.reveal() for part in (settings.llm, settings.siliconflow, settings.embedding)]
    for secret in secrets:
        if len(secret) >= 6:
            text = text.replace(secret, "…")
    return text


def _accept_any_text(*streams: TextIO) -> None:
    """A terminal that cannot show a character gets a question mark instead of a failure."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _forget_stdout() -> None:
    """The reader is gone: what is still buffered goes nowhere, so that Python does not complain at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
