"""The widgets that the first frame does without, in one import."""

from orca_tui.memory_keys import IDS as MEMORY_IDS
from orca_tui.widgets.memory_sidebar import MemorySidebar
from orca_tui.widgets.search_line import SearchLine
from orca_tui.widgets.session_list import SessionList
from orca_tui.widgets.transcript import Transcript
from orca_tui.widgets.tray import Tray

__all__ = ["MEMORY_IDS", "MemorySidebar", "SearchLine", "SessionList", "Transcript", "Tray"]
