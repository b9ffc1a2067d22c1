"""The commands about settings and the terminal."""

from typing import TYPE_CHECKING

from orca_tui.action_base import ActionBase
from orca_tui.i18n import _

if TYPE_CHECKING:
    from orca_tui.settings_pages import PageName


class SettingsActions(ActionBase):
    """One method a command, named like it."""

    async def suspend(self, _argument: str) -> None:
        """Back to the shell until `fg`."""
        self._app.suspend_orca()

    async def settings(self, argument: str) -> None:
        """The settings over the chat; `/settings keys` opens that page. Again: away with them."""
        from orca_tui.screens.settings import SettingsScreen
        from orca_tui.settings_desk import SettingsDesk
        from orca_tui.settings_pages import PAGES

        app = self._app
        wanted = argument.strip().lower()
        page: PageName = next((name for name in PAGES if wanted in (name, _(PAGES[name]).lower())), "providers")
        if isinstance(app.screen, SettingsScreen):
            app.screen.action_close()
        elif app.screen is app.chat:
            app.push_screen(SettingsScreen(SettingsDesk(app), page=page))
