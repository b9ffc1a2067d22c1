"""What is said about sections of tools, agents and MCP servers that cannot be used as they stand."""

from pathlib import Path

import pytest

from memory.config import AgentSettings, Home, Settings
from memory.errors import ConfigError
from memory.settings import load_settings_with_warnings
from memory.settings.shipped_agents import SHIPPED_AGENTS
from memory.subagents.agents import agents_of, tools_of
from orca_tui.doctor_tools import tools_told


def load(home: Path, text: str, mode: int = 0o600) -> tuple[Settings, list[str]]:
    place = Home(home)
    place.ensure()
    place.config.write_text(text, encoding="utf-8")
    place.config.chmod(mode)
    return load_settings_with_warnings(place, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[agents.x]\ntools = ["read_fil"]',
            'line 2: [agents.x] tools names "read_fil", which is no tool. Did you mean "read_file"?',
        ),
        ('[agents.x]\ntools = ["memory_search"]', "memory_search, which agents do not get"),
        ('[tools]\nallow = ["\\u001b[2Jx:y"]', 'names "␛[2Jx", which is no tool. There are memory_search'),
        ('[tools]\nroots = ["code"]', "changes with the directory"),
        ("[mcp.files]\nargs = []", "line 1: [mcp.files] has neither a command nor a url"),
        ('[mcp.files]\ncommand = "x"\nurl = "http://x"', "both a command and a url"),
    ],
)
def test_what_has_no_effect_is_told(home: Path, text: str, said: str) -> None:
    _, warnings = load(home, text)
    assert len(warnings) == 1
    assert said in warnings[0]
    assert "\x1b" not in warnings[0]


def test_what_is_right_is_not_told(home: Path) -> None:
    server, tools = '[mcp.files]\ncommand = "x"\n', '[tools]\nroots = ["~/code", "/srv"]\n'
    assert load(home, server + tools + '[agents.x]\ntools = ["files__read", "agent_call"]')[1] == []


def test_a_section_changes_an_agent_that_orca_ships_and_keeps_the_rest(home: Path) -> None:
    text = '[agents.coder]\nmodel = "big"\ntools = []\n[agents.mine]\nprompt = "x"\n[agents.critic]\nenabled = false'
    settings, _ = load(home, text)
    agents = agents_of(settings.agents)
    assert list(agents) == ["coder", "researcher", "mine"]
    assert (agents["coder"].model, agents["coder"].tools) == ("big", ())
    assert agents["coder"].prompt == SHIPPED_AGENTS["coder"].prompt
    assert agents["mine"] == AgentSettings(prompt="x")


def test_agents_get_no_memory_whatever_the_settings_say() -> None:
    assert tools_of(AgentSettings(tools=("memory_save", "read_file", "memory_search", "read_file"))) == ("read_file",)
    assert all("memory" not in name for agent in SHIPPED_AGENTS.values() for name in agent.tools)


@pytest.mark.parametrize(
    "text", ['[agents."a b"]\nprompt = "x"', "[agents.x]\nmax_tokens = 1", "[agents.x]\nmax_seconds = 0"]
)
def test_what_cannot_be_is_refused(home: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load(home, text)


def test_a_server_whose_command_others_could_have_written_is_not_started(home: Path) -> None:
    settings, warnings = load(home, '[mcp.files]\ncommand = "x"\n[mcp.far]\nurl = "http://x"', mode=0o666)
    assert (settings.mcp["files"].enabled, settings.mcp["far"].enabled) == (False, True)
    assert any("[mcp.files] is not started" in warning for warning in warnings)


def test_the_doctor_tells_tools_and_agents(home: Path) -> None:
    settings, _ = load(home, '[tools]\nroots = ["/not/there"]\nallow = ["memory_save"]')
    (tools, agents) = tools_told(settings)
    assert tools[:2] == ("tools", "warn")
    assert "not there: /not/there" in tools[2]
    assert "never asked about: memory_save" in tools[2]
    assert agents[2].startswith("coder (read_file, list_dir); ")
    off, _ = load(home, "[tools]\nenabled = false")
    assert tools_told(off)[0][2].startswith("switched off")
