"""All that orca makes is for its owner only, however open the umask of its user is; and no key is in any of it."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import serving

from memory.config import Home
from orca_tui.draft import Draft, write_draft
from tests.faults.terminal_bytes import run as run_in_terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
ROOT = Path(__file__).parents[2]
APP = ROOT / "tests" / "tui" / "pty_app.py"
SPY = """
import os, pathlib, sys
out = pathlib.Path(sys.argv[1]); out.mkdir(exist_ok=True)
(out / f"{os.getpid()}").write_bytes(b"".join(
    pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
    for pid in os.listdir("/proc") if pid.isdigit()
    for what in ("cmdline",)
    if os.access(f"/proc/{pid}/{what}", os.R_OK) and pathlib.Path(f"/proc/{pid}").exists()
))
print(sys.argv[2])
"""
"""A key command that looks at every process while orca waits for it."""


MANY = """
import json, os, sys
os.umask(0)
from orca_tui.cli import main
for argv in json.loads(sys.argv[1]):
    code = main(argv)
    print(f"\\n== {argv[0]} {code}", flush=True)
"""


def orca(home: Path, *commands: tuple[str, ...], **env: str) -> str:
    """What commands print, one after the other in a process of their own, under a umask that hides nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCA_")}
    done = subprocess.run(
        [sys.executable, "-c", MANY, json.dumps(commands)],
        env={**kept, "ORCA_HOME": str(home), "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n== ") == len(commands)
    return done.stdout + done.stderr


@pytest.fixture
def url() -> Iterator[str]:
    with serving() as address:
        yield address


def settings(url: str, *lines: str) -> str:
    return "\n".join(
        [
            "[llm]",
            'provider = "openai"',
            f'base_url = "{url}"',
            'model = "scripted"',
            *lines,
            "[embedding]",
            'provider = "openai"',
            f'base_url = "{url}"',
            'model = "vectors"',
            "dimensions = 8",
            "",
        ]
    )


def write_settings(home: Path, text: str) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    config = home / "config.toml"
    config.write_text(text, "utf-8")
    config.chmod(0o600)


def test_every_file_of_a_whole_session_is_private(home: Path, tmp_path: Path, url: str) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    said = orca(
        home,
        ("config", "set", "llm.provider", "openai"),
        ("config", "set", "llm.base_url", url),
        ("ask", "Remember that I like tea"),
        ("backup",),
        ("backup", str(out / "copy.db")),
        ("memory", "export", str(out / "memories.json")),
        ("memory", "export", "--format", "markdown", str(out / "memories.md")),
        ("memory", "add", "I live in Oslo"),
        ("sessions", "list"),
        ("doctor",),
    )
    assert " 1\n" not in said.replace("\n== doctor 1", ""), said
    (home / "memory.db").rename(home / "broken.db")
    (home / "memory.db").write_bytes(b"not a database" * 1000)
    (home / "memory.db").chmod(0o600)
    assert "== ask 0" in orca(home, ("ask", "Kept in plain files now"))
    old = os.umask(0)
    try:
        write_draft(Home(home), Draft("half a thought"))
        run_in_terminal([str(APP), "--crash"], tmp_path / "other")
    finally:
        os.umask(old)
    seen = [path for top in (home, tmp_path / "other") for path in (top, *top.rglob("*"))]
    names = {path.name for path in seen}
    assert {"memory.db", "config.toml", "sessions", "draft.json", "backups"} <= names
    made = [*seen, *(path for path in out.iterdir())]
    wrong = {
        str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.lstat().st_mode)) for path in made if too_open(path)
    }
    assert wrong == {}


def too_open(path: Path) -> bool:
    wanted = 0o700 if path.is_dir() else 0o600
    return stat.S_IMODE(path.lstat().st_mode) & ~wanted != 0


CHANNELS = ("environment", "named variable", "command", "keyring", "file")


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_key_is_nowhere_but_where_it_was_put(home: Path, tmp_path: Path, url: str, channel: str) -> None:
    """A key by each way in, with every failure on the way; then every file, page, stream and process is searched."""
    canary = f"sk-canary-{CHANNELS.index(channel)}a1b2c3d4e5f6"
    spied, secret = tmp_path / "spied", tmp_path / "secret.py"
    env: dict[str, str] = {}
    line = ""
    if channel == "environment":
        env["ORCA_API_KEY"] = canary
    elif channel == "named variable":
        env["MINE"], line = canary, 'api_key_env = "MINE"'
    elif channel == "command":
        secret.write_text(SPY.replace("sys.argv[2]", repr(canary)), "utf-8")
        line = f'api_key_command = \'"{sys.executable}" "{secret}" "{spied}"\''
    elif channel == "keyring":
        stub = tmp_path / "stub"
        stub.mkdir()
        (stub / "keyring.py").write_text(f"def get_password(service, entry):\n    return {canary!r}\n", "utf-8")
        env["PYTHONPATH"], line = f"{ROOT}{os.pathsep}{stub}", 'api_key_keyring = "llm"'
    else:
        line = f'api_key = "{canary}"'
    write_settings(home, settings(url, line))
    said = orca(
        home,
        ("ask", "Remember that I like tea"),
        ("ask", "--json", "And what do I like?"),
        ("config", "show"),
        ("config", "show", "--json"),
        ("key", "list"),
        ("doctor", "--json"),
        ("memory", "export", str(tmp_path / "memories.json")),
        ("backup", str(tmp_path / "copy.db")),
        **env,
    )
    write_settings(home, settings("http://127.0.0.1:9/v1", line, "max_retries = 0"))
    failed = orca(home, ("ask", "Nobody answers"), **env)
    assert "== ask 1" in failed
    (home / "config.toml").unlink()
    assert canary not in said + failed
    ours = [path for path in tmp_path.rglob("*") if path.is_file() and path != secret and "stub" not in path.parts]
    assert home / "memory.db" in ours
    hits = [str(path) for path in ours if canary.encode() in path.read_bytes()]
    assert hits == []
    if channel == "command":
        assert list(spied.iterdir()), "the processes were looked at"
