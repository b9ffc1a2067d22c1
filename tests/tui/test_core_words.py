"""What the core says is said in Chinese on a Chinese screen, and nothing that it says is forgotten."""

import re
from collections.abc import Iterator

import pytest

from memory.errors import OrcaError, StoreFullError
from orca_tui.core_words import Form, core_said, error_said
from orca_tui.i18n import set_language
from orca_tui.i18n_zh.said import PARTS, SAID
from tests import core_sentences

JOINED = {
    "{path} is not a directory",
    "{path} is not a file",
    "{a} sessions, {b} messages, {c} short term, {d} long term, {e} embeddings",
}
"""Put together by the doctor from words that stand apart."""
SENTENCE_END = re.compile(r"(?<=[.!?…]) ")


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    set_language("zh")
    yield
    set_language("en")


def names(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def still_english(text: str, words: tuple[str, ...]) -> bool:
    """Whether words of the sentence stand in its translation, or a value of it does not."""
    shown = core_said(text)
    own = [part for piece in words for part in SENTENCE_END.split(piece) if len(part.split()) > 1]
    own = [part for part in own if not part.startswith("orca-tui ")]
    return any(part in shown for part in own) or any(probe not in shown for probe in re.findall(r"\bx\d\b", text))


def test_every_sentence_of_the_core_is_known() -> None:
    assert [text for text, words in core_sentences.told().items() if still_english(text, words)] == []


def test_no_sentence_is_left_over() -> None:
    there, errors = core_sentences.corpus(), core_sentences.told().keys()
    pieces = {source: re.split(r"\{\w+\}|[][.,;:…()]+(?: |$)?", source) for source in SAID if source not in JOINED}
    rest = [source for source, own in pieces.items() if not all(piece.strip() in there for piece in own)]
    assert [source for source in rest if not any(Form(source, "").match(text) is not None for text in errors)] == []


def test_a_sentence_stands_in_one_table_and_has_the_same_values_in_both_languages() -> None:
    from importlib import import_module

    assert len(SAID) == sum(len(import_module(f"orca_tui.i18n_zh.said_{part}").SAID) for part in PARTS)
    assert [source for source, target in SAID.items() if names(source) != names(target)] == []


def test_values_are_put_in_as_they_are() -> None:
    assert core_said("a.example sent nothing for 30 seconds.") == "a.example 等了 30 秒仍没有回应。"
    assert core_said("{x} sent nothing for {0.real} seconds.") == "{x} 等了 {0.real} 秒仍没有回应。"
    assert core_said('h refused the key (401): say "{said}".') == 'h 拒绝了密钥（401）：say "{said}".'
    assert core_said("h refused the key (401).") == "h 拒绝了密钥（401）。"


def test_a_name_that_comes_twice_is_the_same_twice() -> None:
    missing = "Runs at {h} without qwen. Get it with: ollama pull {m}"
    assert core_said(missing.format(h="h", m="qwen")) == "在 h 运行，没有 qwen。下载命令：ollama pull qwen"
    assert "没有" not in core_said(missing.format(h="h", m="another"))


def test_sentences_in_a_row_are_said_one_by_one() -> None:
    assert core_said("Try again in a while. Request id: 7.") == "请稍后重试。请求编号：7。"
    assert core_said("Try again in a while. Something else.") == "请稍后重试。Something else."
    error = StoreFullError("Nothing can be written to /d: the disk or quota is full.", hint="Free some space.")
    assert error_said(error) == "无法写入 /d：磁盘或配额已满。请腾出空间。"
    assert error_said(error, "\n") == "无法写入 /d：磁盘或配额已满。\n请腾出空间。"


def test_a_sentence_in_a_sentence() -> None:
    assert core_said("The agent could not begin: There is nothing to send.") == "智能体无法开始：没有可发送的内容。"
    assert core_said("/a cannot be read: Permission denied.") == "/a 无法读取：没有权限。"
    assert core_said("config.toml line 3: [ui] mouse must be true or false.") == (
        "config.toml 第 3 行：[ui] mouse 应是 true 或 false。"
    )


def test_what_is_not_known_stays() -> None:
    assert core_said("Something new.") == "Something new."
    assert core_said("") == ""
    assert error_said(OrcaError("New.", hint="Also new.")) == "New. Also new."


def test_an_english_screen_shows_what_was_said() -> None:
    set_language("en")
    assert core_said("There is nothing to send.") == "There is nothing to send."


def test_no_value_confuses_it() -> None:
    hostile = ["h" + " line 1: " * 400, "(" * 4000, ": " * 1900 + ".", "x. " * 1300]
    assert [text for text in hostile if core_said(text) != text] == []
    assert core_said(f"{'(' * 3000} refused the key (401).") == f"{'(' * 3000} 拒绝了密钥（401）。"
