"""Errors of the core in a Chinese app, from where they are raised to the screen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.config import UISettings
from memory.errors import AuthenticationFailed, OrcaError, ProviderTimeout, StoreFullError
from orca_tui.app import OrcaApp
from orca_tui.i18n import set_language
from tests.tui.app_support import SETTINGS, make_app, running, screen_text, until, write

CHINESE = replace(SETTINGS, ui=UISettings(language="zh"))


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    set_language("en")


def plain(app: OrcaApp) -> str:
    """The screen without blanks and frames: what is said may be wrapped anywhere."""
    return "".join(character for character in screen_text(app) if not character.isspace() and character not in "▌▏│")


def notices(app: OrcaApp) -> str:
    return "\n".join(notice.message for notice in app._notifications)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            AuthenticationFailed(
                "api.example refused the key (401): bad key", hint="Set MY_KEY, or api_key under [llm] in config.toml."
            ),
            ("api.example拒绝了密钥（401）：badkey", "请设置MY_KEY，或在config.toml的[llm]下写api_key。"),
        ),
        (
            ProviderTimeout(
                "api.example sent nothing for 60 seconds.",
                hint="Try again; a slow server needs a larger llm.first_byte_timeout.",
            ),
            ("api.example等了60秒仍没有回应。", "服务器较慢时可调大llm.first_byte_timeout。"),
        ),
    ],
)
async def test_a_failed_reply(tmp_path: Path, error: OrcaError, shown: tuple[str, str]) -> None:
    app = make_app(tmp_path, [[error]], settings=CHINESE)
    async with running(app, (80, 24)) as pilot:
        await write(pilot, "hello")
        await until(pilot, lambda: shown[0] in plain(app) and shown[1] in plain(app))


async def test_a_full_disk(tmp_path: Path) -> None:
    app = make_app(tmp_path, settings=CHINESE)
    async with running(app, (80, 24)) as pilot:
        app.tell_error(
            StoreFullError(
                "Nothing can be written to /data/memory.db: the disk or quota is full.",
                hint="Free some space. What is stored is whole.",
            )
        )
        await until(pilot, lambda: notices(app))
        assert notices(app) == "无法写入 /data/memory.db：磁盘或配额已满。\n请腾出空间。已保存的内容完好。"


async def test_an_argument_that_means_nothing(tmp_path: Path) -> None:
    app = make_app(tmp_path, settings=CHINESE)
    async with running(app, (80, 24)) as pilot:
        await write(pilot, "/resume zzzzzz")
        await until(pilot, lambda: "zzzzzz" in notices(app))
        assert "there is no" not in notices(app).lower()
        await write(pilot, "/agent nobody do it")
        await until(pilot, lambda: "没有智能体“nobody”。" in notices(app))


async def test_the_doctor(tmp_path: Path) -> None:
    app = make_app(tmp_path, settings=CHINESE)
    async with running(app, (120, 50)) as pilot:
        await write(pilot, "/doctor")
        await until(pilot, lambda: "全文检索可用" in screen_text(app))
