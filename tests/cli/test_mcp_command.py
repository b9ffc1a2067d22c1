"""`orca-tui mcp` and the doctor's rows on MCP servers, against a server in a process of its own."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SERVER = Path(__file__).parents[1] / "memory" / "mcp_server.py"


@pytest.fixture
def configured(home: Path) -> Path:
    home.mkdir(mode=0o700)
    config = home / "config.toml"
    words = json.dumps([str(SERVER), "good"])
    good = f"[mcp.city]\ncommand = {json.dumps(sys.executable)}\nargs = {words}\n"
    config.write_text(f"{good}[mcp.bad]\ncommand = 'orca-no-such-program'\n")
    config.chmod(0o600)
    return home


def test_what_is_new_is_marked_until_it_is_allowed(run: Run, configured: Path) -> None:
    first = run("mcp", "test", "city")
    assert first.code == 0
    assert "new  city__add" in first.out
    assert "orca-tui mcp allow city" in first.out
    allowed = run("mcp", "allow", "city")
    assert allowed.code == 0
    assert "city__add" in allowed.out
    again = json.loads(run("mcp", "test", "city", "--json").out)
    assert all(tool["agreed"] for tool in again["tools"])


def test_the_list_tells_which_server_cannot_be_used(run: Run, configured: Path) -> None:
    found = run("mcp", "list")
    assert found.code == 1
    assert "city__echo" in found.out
    assert "\x1b" not in found.out
    assert "bad cannot be started" in found.err
    servers = json.loads(run("mcp", "list", "--json").out)["servers"]
    assert [(server["name"], bool(server["problem"])) for server in servers] == [("city", False), ("bad", True)]


def test_without_servers_it_says_how_to_add_one(run: Run) -> None:
    found = run("mcp", "list")
    assert found.code == 0
    assert "[mcp.NAME]" in found.out


def test_a_name_that_is_not_there(run: Run, configured: Path) -> None:
    found = run("mcp", "test", "town")
    assert found.code == 1
    assert "There are: city, bad." in found.err


def test_the_doctor_has_a_row_for_each_server(run: Run, configured: Path) -> None:
    checks = json.loads(run("doctor", "--json").out)["checks"]
    rows = [check for check in checks if check["name"] == "mcp"]
    assert [row["state"] for row in rows] == ["warn", "warn"]
    assert "of them new or changed" in rows[0]["detail"]
    assert "bad cannot be started" in rows[1]["detail"]
