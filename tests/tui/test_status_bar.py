"""The status bar: everything when there is room, what matters most when there is not."""

import pytest
from hosts import HOSTILE, Host, drawn, unsafe_in

from memory.types import ContextWindow
from orca_tui.widgets.status_bar import Status, StatusBar, status_line

BUSY = Status(
    activity="streaming",
    model="Qwen3-235B-A22B-Instruct",
    window=ContextWindow(32_000, "estimated"),
    used=12_300,
    waiting=12,
    queue_status="paused",
    queue_problem="key refused",
    branches=("user_preference", "long_term_knowledge"),
    incognito=True,
)


def test_all_is_said_when_there_is_room() -> None:
    line = status_line(BUSY, 160).plain
    for words in (
        *("incognito", "Qwen3-235B-A22B-Instruct", "● streaming", "user_preference, long_term_knowledge"),
        *("‖ 12 waiting: key refused", "38%", "12.3k / 32.0k", "estimated"),
    ):
        assert words in line


def test_forty_cells_keep_the_most_important() -> None:
    line = status_line(BUSY, 40).plain
    assert "streaming" in line
    assert "~38%" in line
    assert "◌" in line
    assert "Qwen3" in line
    assert "user_preference" not in line


@pytest.mark.parametrize("width", range(121))
def test_never_wider_than_the_screen(width: int) -> None:
    for status in (BUSY, Status(), Status(model="多" * 50, activity="等" * 50, queue_status="off")):
        assert status_line(status, width).cell_length <= width


def test_at_rest() -> None:
    line = status_line(Status(model="m", window=ContextWindow(8000, "served"), used=80, waiting=0), 80).plain
    assert "● 0 waiting" in line
    assert "1%" in line
    assert "estimated" not in line
    assert "~" not in line


def test_a_full_window_has_a_sign() -> None:
    status = Status(model="m", window=ContextWindow(100, "served"), used=130)
    assert "! 130%" in status_line(status, 80).plain


def test_states_of_the_queue_and_model() -> None:
    assert "no embeddings" in status_line(Status(queue_status="off"), 80).plain
    assert "paused" in status_line(Status(queue_status="paused", waiting=1), 80).plain
    assert "no model" in status_line(Status(), 80).plain
    assert "m · tiny" in status_line(Status(model="m", tiny=True), 80).plain
    assert "1 branch" in status_line(Status(branches=("b" * 24,), activity="a" * 30, model="m" * 30), 85).plain


async def test_fields_are_changed_one_by_one() -> None:
    bar = StatusBar()
    app = Host(bar)
    async with app.run_test(size=(80, 3)) as pilot:
        bar.update_status(model="first", activity="streaming")
        bar.update_status(activity="")
        await pilot.pause()
        assert "first" in drawn(app)
        assert "streaming" not in drawn(app)
        with pytest.raises(TypeError):
            bar.update_status(modle="x")


@pytest.mark.parametrize("text", HOSTILE)
async def test_foreign_text_does_no_harm(text: str) -> None:
    bar = StatusBar()
    app = Host(bar)
    async with app.run_test(size=(100, 3)) as pilot:
        bar.update_status(model=text, activity=text, queue_status="paused", queue_problem=text, branches=(text,))
        await pilot.pause()
        assert not list(unsafe_in(drawn(app)))
        assert "\x1b" not in app.export_screenshot()
