import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import MAX_MARKS, clean, is_cjk, label, language_of, repair, strip_unsafe

ENTRIES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "escapes.jsonl").read_text(encoding="utf-8").splitlines()
]
TAB_CELLS = 4


def text_of(entry: dict[str, Any]) -> str:
    if "hex" in entry:
        return bytes.fromhex(entry["hex"]).decode("utf-8", errors="replace")
    if "gen" in entry:
        character, count = entry["gen"].split("*")
        return str(character.strip("'") * int(count))
    return "".join(entry["s"])


def is_forbidden(character: str) -> bool:
    code = ord(character)
    return (
        (code < 0x20 and character not in "\n\t")
        or 0x7F <= code <= 0x9F
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x2069
        or 0x2060 <= code <= 0x2064
        or code in (0x200B, 0xFEFF)
        or 0xD800 <= code <= 0xDFFF
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE
    )


NASTY = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b[31m;\x9b\r\n\t\x00\x07\x7f\x85 a1\u200b\u200c\u200d\ufe0f\ufe0e\U000e0100\u202e\u2069\ufeff\xad"
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e007f\U0001f600\u2764\U0001f469\U0001f3fd"
            "\u0301\u0316\u093c\u094d\u0915\u0e47\u0e01\ud83d\ude00\udb40\udc67\ufffe\ufdd0\u2028\u4f60\u3164"
        ),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_every_entry_of_the_corpus_shows_what_is_expected(entry: dict[str, Any]) -> None:
    shown = clean(text_of(entry))
    if entry["expect"] is not None:
        assert shown.replace("\t", " " * TAB_CELLS) == entry["expect"]
    assert not any(map(is_forbidden, shown))
    assert clean(shown) == shown
    shown.encode("utf-8")


@given(NASTY)
def test_clean_leaves_nothing_that_a_terminal_obeys_and_is_idempotent(text: str) -> None:
    shown = clean(text)
    assert not any(map(is_forbidden, shown))
    assert clean(shown) == shown
    assert strip_unsafe(shown) == shown


@given(NASTY, st.integers(1, 40))
def test_a_label_is_one_clean_line_of_bounded_length(text: str, limit: int) -> None:
    line = label(text, limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert not any(map(is_forbidden, line))
    assert label(line, limit) == line


@given(NASTY)
def test_strip_unsafe_only_takes_away(text: str) -> None:
    kept = strip_unsafe(text)
    assert not any(map(is_forbidden, kept))
    assert strip_unsafe(kept) == kept
    rest = iter(text)
    assert all(character in rest for character in kept)


@given(NASTY)
def test_repaired_text_can_be_stored_and_counts_what_was_lost(text: str) -> None:
    stored, lost = repair(text)
    stored.encode("utf-8")
    assert "\0" not in stored
    assert repair(stored) == (stored, 0)
    assert stored.count("\ufffd") == text.count("\ufffd") + lost


@given(st.text(st.characters(categories=["L", "Nd", "P", "Sm", "Sc", "Zs"], max_codepoint=0x2FFFF), max_size=200))
def test_letters_digits_and_punctuation_are_never_changed(text: str) -> None:
    assert clean(text) == text
    assert strip_unsafe(text) == text


def test_every_forbidden_character_goes_and_every_visible_one_stays() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    for character in filter(is_forbidden, characters):
        assert clean(character) != character
        assert strip_unsafe(character) == ""
    visible = "".join(character for character in characters if unicodedata.category(character)[0] in "LNPS")
    assert clean(visible) == visible
    assert strip_unsafe(visible) == visible


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 🏳️‍🌈 ❤️ 👍🏽 🇯🇵 1️⃣",
        "می‌خواهم خانه‌ها",
        "क्‍ष हिन्दी",
        "ภาษาไทย ที่",
        "葛󠄀城",
        "2*3*4 [/x] List<int> <think>x</think>",
        "a\tb\n\nc",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    ],
)
def test_honest_writing_stays(text: str) -> None:
    assert clean(text) == text
    assert strip_unsafe(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\r\n\rb", "a\n␍b"),
        ("\x1b\x1b[31m[2J", "␛[2J"),
        ("ad\u200dmin pay\u200cpal", "admin paypal"),
        ("👩\u200d\u200d👧", "👩\u200d👧"),
        ("a\u2028b", "a\nb"),
        ("🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "hi") + "\U000e007f", "🏴<TAG×3>"),
        ("x \ufe0f", "x <VS×1>"),
        ("\ud83d\ude00", "😀"),
        ("a" + "\u0301\u200d" * 40, "a" + "\u0301" * MAX_MARKS),
    ],
)
def test_what_is_hidden_or_live_gets_a_stand_in(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_labels_fold_blanks_and_cut_with_an_ellipsis() -> None:
    assert label("  one\n\ttwo\u3000three\u3164 ") == "one two three"
    assert label("abcdef", 4) == "abc…"
    assert label("ab👩\u200d👧c", 5) == "ab👩…"
    assert label("ab👩\u200d👧", 5) == "ab👩\u200d👧"
    assert label("x🏴󠁧󠁢󠁥󠁮󠁧󠁿", 5) == "x🏴…"
    assert label("\x1b[31m") == ""


def test_repair_joins_a_split_pair_and_counts_only_losses() -> None:
    assert repair("\ud83d\ude00 a\0b\udc00") == ("😀 a\ufffdb\ufffd", 2)


@pytest.mark.parametrize("character", "你あアㄅ한ㄱ𠀀")
def test_cjk_letters_are_known(character: str) -> None:
    assert is_cjk(character)


@pytest.mark.parametrize("character", "aé1。，！〜・ я😀")
def test_other_characters_are_no_cjk(character: str) -> None:
    assert not is_cjk(character)


def test_an_empty_string_is_no_cjk() -> None:
    assert not is_cjk("")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("What does 你好 mean here?", "en"),
        ("帮我解释一下 Python 的 asyncio", "zh"),
        ("你好", "zh"),
        ("привет", "en"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language
