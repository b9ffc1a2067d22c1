"""Keys that were typed behind one that moved the focus: they are meant for where the focus is now."""

from textual import events
from textual.widget import Widget


def passed_on(widget: Widget, event: events.Key) -> bool:
    """Give a key that `widget` got without having the focus any more to the widget that has it; tells whether."""
    focused = widget.screen.focused
    if focused is None or focused is widget:
        return False
    event.stop()
    event.prevent_default()
    focused._forward_event(events.Key(event.key, event.character))
    return True
