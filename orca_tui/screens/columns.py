"""The side columns of the chat: in a place of their own where there is room, else over the chat until Esc.

Classes on the screen decide (`app.tcss`): `-panel` and `-sidebar` are what the user wants beside the chat,
`-over-panel` and `-over-sidebar` what lies over it now.
"""

from orca_tui.widgets.bare import BareScreen

WIDE = 100
"""Cells from which the memory sidebar has a place of its own."""
FULL = 132
"""Cells from which the list of sessions has one too."""


class SideColumns(BareScreen):
    """A screen with a list of sessions to the left and the memory to the right."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (40, "-narrow"), (WIDE, "-wide"), (FULL, "-full")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-high")]

    def __init__(self, *, panel: bool, sidebar: bool) -> None:
        """`panel` and `sidebar`: whether the columns are shown where there is room for them."""
        super().__init__()
        self.set_class(panel, "-panel")
        self.set_class(sidebar, "-sidebar")

    def take_breakpoints(self) -> None:
        """Take the classes for the terminal's size before the first layout, which would be done twice otherwise."""
        for size, breakpoints in (
            (self.app.size.width, self.HORIZONTAL_BREAKPOINTS),
            (self.app.size.height, self.VERTICAL_BREAKPOINTS),
        ):
            self.add_class(next(name for least, name in reversed(breakpoints) if size >= least))

    def toggle_panel(self) -> None:
        """Show or hide the list of sessions."""
        self._toggle("-panel", FULL)

    def toggle_sidebar(self) -> None:
        """Show or hide the memory sidebar."""
        self._toggle("-sidebar", WIDE)

    def close_overlay(self) -> bool:
        """Put away a column that lies over the chat; tells whether there was one."""
        opened = self.has_class("-over-panel") or self.has_class("-over-sidebar")
        self.remove_class("-over-panel", "-over-sidebar")
        if opened:
            self.fit_overlays()
            self.focus_main()
        return opened

    def room_below(self) -> int:
        """Lines below the transcript where one types, which nothing may cover."""
        raise NotImplementedError

    def fit_overlays(self) -> None:
        """Let what lies over the chat end above where one types."""
        height = self.query_one("#main").size.height - self.room_below()
        for name in ("panel", "sidebar"):
            styles = self.query_one(f"#{name}").styles
            styles.max_height = max(1, height) if self.has_class(f"-over-{name}") else None

    def focus_main(self) -> None:
        """Give the focus back to where one types."""
        raise NotImplementedError

    def on_resize(self) -> None:
        """What lay over the chat goes where its column has room."""
        if self.size.width >= WIDE:
            self.remove_class("-over-sidebar")
        if self.size.width >= FULL:
            self.remove_class("-over-panel")
        self.fit_overlays()

    def _toggle(self, column: str, room: int) -> None:
        if self.size.width >= room:
            self.toggle_class(column)
            return
        over = f"-over{column}"
        opened = not self.has_class(over)
        self.remove_class("-over-panel", "-over-sidebar")
        self.set_class(opened, over)
        self.fit_overlays()
        if not opened:
            self.focus_main()
