"""Where the settings screen works: reads the file, writes what was changed, puts it in force, tests who answers."""

import asyncio
import os
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from memory.config import Secret, Settings
from memory.errors import OrcaError
from memory.text import label
from orca_tui import settings_apply, settings_keys
from orca_tui.i18n import _
from orca_tui.settings_file import MISSING, KeyPath, change, read_data, value_in
from orca_tui.settings_keys import KeyRow

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp


class SettingsDesk:
    """One for a settings screen."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self._data: dict[str, Any] = {}
        """What the file said when it was last looked at."""
        self._env: Mapping[str, str] = os.environ if app.env is None else app.env
        self._writing = asyncio.Lock()

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self._app.settings

    @property
    def place(self) -> str:
        """The settings file; safe to be shown."""
        return label(str(self._app.home.config), 200)

    @property
    def themes(self) -> list[str]:
        """Names of all themes."""
        return sorted(self._app.themes.names())

    @property
    def window(self) -> int:
        """Tokens of the context window as far as it is known; 0 when it is not."""
        window = self._app.chat.status.status.window
        return window.tokens if window is not None else 0

    def key_rows(self) -> list[KeyRow]:
        """Every binding."""
        return settings_keys.rows(self._app.keymap)

    def is_set(self, path: KeyPath) -> bool:
        """Whether the file has this key."""
        return value_in(self._data, path) is not MISSING

    async def look(self) -> bool:
        """Read the file anew and go by it; tells whether it had changed. Raises `ConfigError`."""
        async with self._writing:
            data = await asyncio.to_thread(read_data, self._app.home)
            if data == self._data:
                return False
            self._data = data
            await self._follow()
            return True

    async def save(self, texts: Mapping[KeyPath, str | None]) -> OrcaError | None:
        """Write these keys and put them in force. Gives why the model could not follow what is saved now.

        Raises `ChangedMeanwhile` when somebody else changed one of them since `look`, `ConfigError` when a value is
        not allowed; then nothing was written.
        """
        async with self._writing:
            await asyncio.to_thread(change, self._app.home, texts, self._data)
            self._data = await asyncio.to_thread(read_data, self._app.home)
            return await self._follow()

    def preview_theme(self, name: str) -> None:
        """Show a theme without saving it."""
        self._app.preview_theme(name)

    async def test(self, section: str) -> str:
        """Really ask who answers, or what embeds; gives what to say. Raises leaves of `OrcaError`."""
        begin = monotonic()
        if section == "llm":
            from orca_tui.provider_setup import try_chat

            name = await try_chat(self._app.home, self.settings, self._app.env)
            told = _("{name} answers, after {n} s.", name=label(name, 60), n=f"{monotonic() - begin:.1f}")
        else:
            from orca_tui.provider_setup import try_embedder

            width = await try_embedder(self._app.home, self.settings, self._app.env)
            seconds = f"{monotonic() - begin:.1f}"
            told = _("A vector of {width} numbers came, after {n} s.", width=width, n=seconds) if width else ""
        return told or _("Embedding is switched off: search goes by words alone.")

    def origin(self, path: KeyPath, value: object) -> str:
        """Where the value in force comes from, in the language of the screen."""
        from memory.settings import OVERRIDES, SILICONFLOW_KEY

        names: dict[KeyPath, str] = {("llm", field): name for name, field in OVERRIDES.items()}
        names["siliconflow", "api_key"] = SILICONFLOW_KEY
        if self._env.get(names.get(path, ""), "").strip():
            return _("from the variable {name}, which wins over the file", name=names[path])
        if path[-1] == "api_key" and isinstance(value, Secret):
            source = self._other_key(path[0])
            if source:
                return source
        return _("from the file") if self.is_set(path) else _("the default")

    def _other_key(self, section: str) -> str:
        """What gives the key of a section in place of the file; empty when nothing does."""
        part = getattr(self.settings, section)
        name = getattr(part, "api_key_env", "")
        if name:
            state = _("set") if self._env.get(name) else _("not set")
            return _("the variable {name} is used ({state})", name=label(name, 40), state=state)
        if part.api_key_command:
            return _("the command that prints it is used")
        if part.api_key_keyring:
            return _("the keyring's entry is used")
        usual = {"llm": "OPENAI_API_KEY", "embedding": "OPENAI_API_KEY"}.get(section, "")
        if usual and not part.api_key and self._env.get(usual):
            return _("the variable {name} is used for OpenAI", name=usual)
        return ""

    async def _follow(self) -> OrcaError | None:
        from memory.settings import load_settings

        after = await asyncio.to_thread(load_settings, self._app.home, self._app.env)
        before = self._app.settings
        return await settings_apply.apply(self._app, before, after)
