"""What works here and what to do about what does not: one row a matter, for `orca-tui doctor` and the doctor page.

No state of the machine makes it fail: every check that raises becomes a row that says so. Nothing is created in the
home; a database that is there is opened as any start would open it.
"""

import asyncio
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memory.config import Home, Settings
from memory.errors import OrcaError
from memory.text import label
from orca_tui.doctor_vectors import missing_extension

if TYPE_CHECKING:
    from memory.store.upkeep_log import MaintenanceRun

State = Literal["ok", "warn", "fail"]

OLDEST_SQLITE = (3, 51, 3)
"""Earlier ones can lose commits when a write-ahead log is reset."""


@dataclass(frozen=True, slots=True)
class Row:
    """One matter. All texts are cleaned."""

    name: str
    """Stable: scripts may look for it."""
    state: State
    detail: str
    advice: str = ""
    """What to do; empty when nothing is."""


@dataclass(frozen=True, slots=True)
class Examination:
    """All rows, in a fixed order."""

    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing fails; warnings are no failure."""
        return all(row.state != "fail" for row in self.rows)

    def lines(self, say: Callable[[str], str] = str) -> list[str]:
        """The rows as text, advice below its row; `say` puts it into another language."""
        marks = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
        found: list[str] = []
        for row in self.rows:
            found.append(f"{marks[row.state]}  {row.name:14} {say(row.detail)}")
            if row.advice:
                found.append(f"      {'':14} → {say(row.advice)}")
        return found


@dataclass(frozen=True, slots=True)
class Case:
    """What is examined."""

    home: Home
    settings: Settings
    env: Mapping[str, str]
    config_error: OrcaError | None
    warnings: tuple[str, ...]


async def examine(home: Home, settings: Settings | None = None, env: Mapping[str, str] | None = None) -> Examination:
    """Look at everything. `settings` are those in force; without them the file is read. Never raises."""
    env = os.environ if env is None else env
    case = _case(home, settings, env)
    rows: list[Row] = []
    for name, check in CHECKS:
        try:
            found = check(case)
            rows += found if isinstance(found, list) else await found
        except OrcaError as error:
            rows.append(_row(name, "fail", str(error), error.hint))
        except Exception as error:  # noqa: BLE001 - whatever is broken here is what the user wants to be told
            rows.append(_row(name, "fail", f"unexpected {type(error).__name__}", "Please report this."))
    return Examination(tuple(rows))


def _case(home: Home, settings: Settings | None, env: Mapping[str, str]) -> Case:
    from memory.settings import load_settings_with_warnings

    try:
        loaded, warnings = load_settings_with_warnings(home, env)
    except OrcaError as error:
        return Case(home, settings or Settings(), env, error, ())
    return Case(home, settings or loaded, env, None, tuple(warnings))


def _row(name: str, state: State, detail: str, advice: str = "") -> Row:
    return Row(name, state, label(detail, 400), label(advice, 400))


def _python(_case: Case) -> list[Row]:
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return [_row("python", "ok", version), _row("platform", "ok", platform.platform())]


def _terminal(case: Case) -> list[Row]:
    from orca_tui.cli.open_app import terminal_problem

    problem = terminal_problem(case.env)
    colours = (
        "no colour (NO_COLOR)" if case.env.get("NO_COLOR") else case.env.get("COLORTERM") or "256 colours or fewer"
    )
    detail = problem or f"{case.env.get('TERM', '')}, {colours}"
    return [_row("terminal", "warn" if problem else "ok", detail, "Only the app needs one." if problem else "")]


def _locale(case: Case) -> list[Row]:
    stream = sys.__stdout__
    encoding = (stream.encoding if stream is not None else "") or "unknown"
    names = [f"{name}={case.env[name]}" for name in ("LC_ALL", "LC_CTYPE", "LANG") if case.env.get(name)]
    detail = f"{encoding}; {', '.join(names) or 'no locale is set'}"
    good = encoding.lower().replace("-", "") == "utf8"
    return [_row("locale", "ok" if good else "warn", detail, "" if good else "Set a UTF-8 locale: LC_ALL=C.UTF-8")]


def _home(case: Case) -> list[Row]:
    return [_path("home", case.home.root, 0o700), _path("database", case.home.database, 0o600)]


def _path(name: str, path: Path, mode: int) -> Row:
    shown = str(path)
    try:
        found = path.stat()
    except FileNotFoundError:
        return _not_there(name, path)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"
        return _row(name, "fail", f"{shown}: {reason}", "Check who may enter the directories above it.")
    is_directory = stat.S_ISDIR(found.st_mode)
    if is_directory != (mode == 0o700):
        wanted = "directory" if mode == 0o700 else "file"
        return _row(name, "fail", f"{shown} is not a {wanted}", "Move it away, or choose another home: --home DIR")
    detail = f"{shown}, mode {stat.S_IMODE(found.st_mode):04o}"
    if not os.access(path, os.R_OK | os.W_OK | (os.X_OK if is_directory else 0)):
        return _row(name, "fail", f"{detail}, not writable", f"Run: chmod u+rw{'x' if is_directory else ''} {shown}")
    if os.name == "posix" and found.st_mode & 0o077:
        return _row(name, "warn", f"{detail}: other users can reach it", f"Run: chmod {mode:o} {shown}")
    return _row(name, "ok", detail)


def _not_there(name: str, path: Path) -> Row:
    above = next((parent for parent in path.parents if parent.exists()), path.parent)
    if os.access(above, os.W_OK | os.X_OK):
        return _row(name, "ok", f"{path}, not made yet")
    return _row(
        name, "fail", f"{path} is not there and cannot be made", f"You may not write to {above}: use --home DIR"
    )


def _config(case: Case) -> list[Row]:
    if case.config_error is not None:
        return [_row("config", "fail", str(case.config_error), case.config_error.hint)]
    if case.warnings:
        return [_row("config", "warn", warning) for warning in case.warnings]
    path = case.home.config
    if not path.exists():
        return [_row("config", "ok", f"{path}, not made yet: everything has its default")]
    return [_row("config", "ok", f"{path}, mode {stat.S_IMODE(path.stat().st_mode):04o}")]


async def _store(case: Case) -> list[Row]:
    """The SQLite library first, on a database of our own; then the home's, if there is one."""
    from memory.store import emptied

    with tempfile.TemporaryDirectory(prefix="orca-doctor-") as scratch:
        here = await asyncio.to_thread(_open, Path(scratch) / "memory.db")
    rows = list(_library_rows(here))
    if not case.home.database.is_file():
        return [*rows, _row("store", "ok", "not made yet; the first start makes it")]
    if problem := await asyncio.to_thread(emptied, case.home):
        return [*rows, _row("store", "warn", str(problem), problem.hint)]
    try:
        found = await asyncio.to_thread(_open, case.home.database, case.home)
    except OrcaError as error:
        instead = f"Until it can be opened, everything is kept in {case.home.root / 'sessions'}."
        return [*rows, _row("store", "fail", f"{error} {instead}", error.hint)]
    counts = ", ".join(f"{found['stats'].get(name, 0)} {name.replace('_', ' ')}" for name in STATS)
    detail = f"schema {found['schema_version']}; {counts}"
    if waiting := found["waiting"]:
        advice = "Bring them in: orca-tui migrate"
        rows.append(_row("store", "warn", f"{detail}; files that are not in it yet: {waiting}", advice))
    else:
        rows.append(_row("store", "ok", detail))
    from orca_tui.doctor_safety import safety_told

    safety = [_row(*told) for told in safety_told(case.home, found["health"])]
    return [*rows, *safety, _upkeep_row(found["run"])]


STATS = ("sessions", "messages", "short_term", "long_term", "embeddings")


def _open(path: Path, home: Home | None = None) -> dict[str, Any]:
    from memory.migration.migrate import waiting_files
    from memory.store import open_store
    from memory.store.health import examine
    from memory.store.ledger import Ledger

    health = examine(path).told() if home else ""
    store = open_store(path)
    try:
        waiting = waiting_files(home, store) if home else 0
        runs = store.runs(limit=1) if isinstance(store, Ledger) else []
        run = runs[0] if runs else None
        return {**store.capabilities(), "stats": store.stats(), "waiting": waiting, "run": run, "health": health}
    finally:
        store.close()


def _upkeep_row(run: "MaintenanceRun | None") -> Row:
    if run is None:
        return _row("upkeep", "ok", "has not run yet")
    if run.problem:
        advice = "It is tried again while the app is open; now: orca-tui memory maintain"
        return _row("upkeep", "warn", f"{run.ended_at[:16]}: {run.problem}", advice)
    return _row("upkeep", "ok", f"last {run.ended_at[:16]} by {run.started_by}")


def _library_rows(found: Mapping[str, Any]) -> Iterator[Row]:
    version = str(found["sqlite_version"])
    parts = tuple(int(part) for part in version.split(".")[:3])
    good = parts >= OLDEST_SQLITE
    yield _row("sqlite", "ok" if good else "fail", version, "" if good else "Upgrade it: pip install -U apsw")
    yield _row("fts5", "ok" if found["fts5"] else "fail", "full-text search works" if found["fts5"] else "missing")
    missing = missing_extension(found)
    advice = "Vectors are compared without it, more slowly. Try: pip install -U sqlite-vec" if missing else ""
    yield _row("sqlite_vec", "warn" if missing else "ok", missing or str(found["sqlite_vec"]), advice)


async def _embedder(case: Case) -> list[Row]:
    from orca_tui.doctor_vectors import vectors_told

    return [_row(*told) for told in await vectors_told(case.home, case.settings, case.env)]


async def _keys(case: Case) -> list[Row]:
    from orca_tui.doctor_keys import keys_told

    return [_row(*told) for told in await asyncio.to_thread(keys_told, case.settings, case.env)]


async def _chat(case: Case) -> list[Row]:
    from memory.provider.factory import list_choices, server_problem

    choices = await list_choices(case.settings, case.home, case.env)
    real = [choice for choice in choices if choice.available and choice.kind != "demo"]
    names = ", ".join(f"{choice.label} ({choice.model})" if choice.model else choice.label for choice in real)
    chosen = case.settings.llm.provider
    detail = f"provider {chosen}; here: {names or 'only the demo'}"
    if not real:
        advice = "orca-tui model add, or a key: orca-tui config set siliconflow.api_key -"
        return [_row("chat", "warn", detail, advice)]
    missing = next((choice for choice in choices if choice.kind == chosen and not choice.available), None)
    if missing:
        return [_row("chat", "warn", detail, missing.detail)]
    problem = await server_problem(real[0].kind if chosen == "auto" else chosen, case.settings, case.env)
    return [_row("chat", "fail", f"{detail}; {problem}", problem.hint) if problem else _row("chat", "ok", detail)]


def _builtin_model(case: Case) -> list[Row]:
    from memory.provider import model_files

    names = [file.name for file in model_files.installed(case.home)]
    if model_files.BUILTIN.name in names:
        return [_row("builtin_model", "ok", f"{model_files.BUILTIN.title}: installed")]
    return [_row("builtin_model", "warn", "not installed", "Get it with: orca-tui model add builtin")]


def _tokens(_case: Case) -> list[Row]:
    from memory.tokens import TokenCounter

    count = TokenCounter().count("Hello, 你好")
    return [_row("tokens", "ok", f"counted with a tokenizer ({count} in a greeting)")]


def _tools(case: Case) -> list[Row]:
    from orca_tui.doctor_tools import tools_told

    return [_row(*told) for told in tools_told(case.settings)]


async def _mcp(case: Case) -> list[Row]:
    from orca_tui.doctor_mcp import servers_told

    return [_row(*told) for told in await servers_told(case.home, case.settings, case.env)]


Check = Callable[[Case], "list[Row] | Awaitable[list[Row]]"]
CHECKS: tuple[tuple[str, Check], ...] = (
    ("python", _python),
    ("terminal", _terminal),
    ("locale", _locale),
    ("home", _home),
    ("config", _config),
    ("store", _store),
    ("embedder", _embedder),
    ("keys", _keys),
    ("chat", _chat),
    ("builtin_model", _builtin_model),
    ("tokens", _tokens),
    ("tools", _tools),
    ("mcp", _mcp),
)
