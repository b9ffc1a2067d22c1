"""The widgets that the first frame does without, in one import."""

from orca_tui.widgets.memory_sidebar import MemorySidebar
from orca_tui.widgets.session_list import SessionList
from orca_tui.widgets.transcript import Transcript

__all__ = ["MemorySidebar", "SessionList", "Transcript"]
