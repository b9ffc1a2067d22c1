"""How the main screen looks: two sizes, two themes. Update with `pytest tests/snapshots --snapshot-update`."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parents[1] / "tui"))

from app_support import SETTINGS, StillClock, idle, make_app, rest, until, write

from memory.config import UISettings
from orca_tui.app import OrcaApp

REPLY = """Of course. Here is **what I know**, and how to *check* it:

1. 你好 means “hello”, and 👩‍👩‍👧 is one glyph
2. `List<int>` keeps its brackets

```python
def greet(name: str) -> str:
    return f"hello {name}"  # 你好
```

| tier | tokens |
| --- | ---: |
| working | 1,234 |
| long-term | 56 |
"""


@pytest.mark.parametrize("theme", ["orca-dark", "orca-light"])
@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=["80x24", "160x45"])
def test_main_screen(home: Path, snap_compare: Callable[..., bool], size: tuple[int, int], theme: str) -> None:
    settings = replace(SETTINGS, ui=UISettings(language="en", theme=theme))
    app = make_app(home, [REPLY], settings=settings, clock=StillClock())

    async def talk(pilot: Pilot[object]) -> None:
        assert isinstance(pilot.app, OrcaApp)
        await until(pilot, lambda: app.conversation is not None and app.chat.status.status.model != "")
        await write(pilot, "Can you greet people in 中文?")
        await idle(pilot)
        await rest(pilot)

    assert snap_compare(app, terminal_size=size, run_before=talk)
