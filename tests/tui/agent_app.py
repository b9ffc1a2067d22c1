"""For tests of agents on the screen: an app whose model asks them, and which agent answers how."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app_support import SETTINGS, make_app

from memory.config import AgentSettings, Settings, ToolsSettings, UISettings
from memory.provider.scripted import Reply
from orca_tui.app import OrcaApp
from tests.memory.agent_support import RoutedChat


def agent_settings(sections: Mapping[str, AgentSettings], *, language: str = "en", **tools: Any) -> Settings:
    """Settings of an app with these agents and `[tools]`."""
    ui = UISettings(language="zh" if language == "zh" else "en")
    return replace(SETTINGS, agents=dict(sections), tools=ToolsSettings(**tools), ui=ui)


def agent_app(home: Path, scripts: Mapping[str, Sequence[Reply]], settings: Settings, **more: Any) -> OrcaApp:
    """An app that is answered by scripts."""
    return make_app(home, chat=RoutedChat(scripts), settings=settings, **more)
