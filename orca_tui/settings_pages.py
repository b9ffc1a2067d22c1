"""The pages of the settings screen: which fields and deeds are on each, in order. Pure: settings in, items out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memory.config import Settings, default_branches
from orca_tui import settings_fields
from orca_tui.settings_fields import Field
from orca_tui.settings_file import KeyPath

PageName = Literal[
    "providers", "models", "memory", "branches", "personas", "agents", "tools", "mcp", "interface", "keys"
]
PAGES: Mapping[PageName, str] = {
    "providers": "Providers",
    "models": "Models",
    "memory": "Memory",
    "branches": "Branches",
    "personas": "Personas",
    "agents": "Agents",
    "tools": "Tools",
    "mcp": "MCP servers",
    "interface": "Interface",
    "keys": "Keys",
}
"""Page → heading; English sources of translated strings."""

WHO = (
    "provider", "base_url", "model", "api_key", "api_key_env", "api_key_command", "api_key_keyring",
)  # fmt: skip
"""What of `[llm]` tells who answers; the rest tells how."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `text` is the English source of a translated string unless it is a name that the user gave."""

    text: str
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to do."""

    act: Literal["test", "add", "delete"]
    path: KeyPath
    """The section that it is done to."""
    text: str
    """English source of a translated string."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The budget and its shares, drawn."""


Item = Heading | Field | Deed | Picture


def items(page: PageName, settings: Settings) -> Sequence[Item]:
    """What is on a page. The keys have a list of their own (`orca_tui.settings_keys`)."""
    match page:
        case "providers":
            return _providers(settings)
        case "models":
            return _models(settings)
        case "memory":
            return [Picture(), *settings_fields.section_fields(settings.memory, ("memory",))]
        case "branches":
            own = [name for name in settings.memory.branches if name not in default_branches()]
            return list(_named(settings.memory.branches, ("memory", "branches"), own, "New branch"))
        case "personas":
            return list(_named(settings.personas, ("personas",), list(settings.personas), "New persona"))
        case "agents":
            return list(_named(settings.agents, ("agents",), list(settings.agents), "New agent"))
        case "mcp":
            return list(_named(settings.mcp, ("mcp",), list(settings.mcp), "New MCP server"))
        case "tools":
            return list(settings_fields.section_fields(settings.tools, ("tools",)))
        case "interface":
            return list(settings_fields.section_fields(settings.ui, ("ui",)))
        case "keys":
            return []


def _providers(settings: Settings) -> list[Item]:
    return [
        Heading("Who answers"),
        *(one for one in settings_fields.section_fields(settings.llm, ("llm",)) if one.path[1] in WHO),
        Deed("test", ("llm",), "Test: ask for a word"),
        Heading("SiliconFlow"),
        *settings_fields.section_fields(settings.siliconflow, ("siliconflow",)),
        Heading("Text into vectors"),
        *settings_fields.section_fields(settings.embedding, ("embedding",)),
        Deed("test", ("embedding",), "Test: make one vector"),
    ]


def _models(settings: Settings) -> list[Item]:
    rest = [one for one in settings_fields.section_fields(settings.llm, ("llm",)) if one.path[1] not in WHO]
    plain = [one for one in rest if one.path[1] != "parameters"]
    return [
        Heading("How it answers"),
        *plain,
        Heading("Sent along"),
        *(one for one in rest if one not in plain),
        Deed("add", ("llm", "parameters"), "New parameter"),
    ]


TABLES: Mapping[str, Sequence[tuple[str, str]]] = {
    "agents": (("parameters", "New parameter"),),
    "mcp": (("env", "New variable"), ("headers_env", "New header")),
}
"""Tables with free names in each section of that kind, and the words of adding to them."""


def _named(sections: Mapping[str, object], path: KeyPath, own: Sequence[str], new: str) -> Iterator[Item]:
    for name, section in sections.items():
        here = (*path, name)
        yield Heading(name, is_name=True)
        yield from settings_fields.section_fields(section, here)
        for table, text in TABLES.get(path[0], ()):
            yield Deed("add", (*here, table), text)
        if name in own:
            yield Deed("delete", here, "Delete it")
    yield Deed("add", path, new)
