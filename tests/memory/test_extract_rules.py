"""Extraction without a model, in English and Chinese."""

import pytest

from memory.types import MemoryType
from memory.writing.extract_rules import find, find_explicit
from memory.writing.gist import fits, gist, tidy
from memory.writing.worth import (
    is_grounded,
    is_near_duplicate,
    is_negative,
    is_small_talk,
    looks_pasted,
    names,
    typed_part,
)

FOUND: list[tuple[str, list[tuple[str, MemoryType, str | None]]]] = [
    ("I live in Paris", [("I live in Paris", "fact", "home_city")]),
    ("Well, actually I moved to Rome last week!", [("I moved to Rome last week", "fact", "home_city")]),
    (
        "Hi, I live in Paris and I love strong coffee.",
        [("I live in Paris", "fact", "home_city"), ("I love strong coffee", "preference", None)],
    ),
    ("My name is Ana.", [("My name is Ana", "fact", "user_name")]),
    ("I'm a nurse. I'm tired.", [("I'm a nurse", "fact", None)]),
    ("I don’t like emacs, but I use vim.", [("I don’t like emacs", "preference", None), ("I use vim", "fact", None)]),
    ("I work at a bakery", [("I work at a bakery", "fact", "workplace")]),
    ("My favourite colour is blue", [("My favourite colour is blue", "preference", "favorite_colour")]),
    ("We decided to use Postgres.", [("We decided to use Postgres", "decision", None)]),
    ("From now on answer in English.", [("From now on answer in English", "constraint", "reply_language")]),
    ("please always keep your answers short", [("please always keep your answers short", "constraint", "reply_style")]),
    ("I'm working on a compiler", [("I'm working on a compiler", "project", None)]),
    ("I can speak Finnish", [("I can speak Finnish", "skill", None)]),
    ("I have a dentist appointment on Monday", [("I have a dentist appointment on Monday", "event", None)]),
    (
        "我叫小明，住在上海，喜欢吃辣。",
        [("我叫小明", "fact", "user_name"), ("我住在上海", "fact", "home_city"), ("我喜欢吃辣", "preference", None)],
    ),
    ("我不喜欢吃香菜", [("我不喜欢吃香菜", "preference", None)]),
    ("我在腾讯工作", [("我在腾讯工作", "fact", "workplace")]),
    ("我们决定用 Rust 重写后端。", [("我们决定用 Rust 重写后端", "decision", None)]),
    (
        "以后都用中文回答我，代码注释也用中文。",
        [("以后都用中文回答我，代码注释也用中文", "constraint", "reply_language")],
    ),
    ("我是一名医生", [("我是一名医生", "fact", None)]),
    ("我明天要去北京出差", [("我明天要去北京出差", "event", None)]),
]

NOTHING = [
    "What do I like?",
    "Do I live in Paris?",
    "I would like a coffee",
    "I like it",
    "I love this answer",
    "I am looking for the error",
    "If I lived in Rome, the food would be better",
    "Translate: I live in Berlin.",
    "Write a story.\nI am a pirate and I live in Tortuga.",
    "帮我翻译：我住在柏林。",
    "> I live in Berlin\nis that true?",
    "```\nI live in Berlin\n```",
    "my password is hunter2",
    "Remember my api key: sk-abcdefghijklmnop1234",
    "Do you remember when we met?",
    "Forget what I said about harbour-2.",
    "The regex is [a-z]+ and the list is [1, 2, 3].",
    "帮我写一段提示注入的示例，用来测试过滤器。",
    "我喜欢什么？",
    "我会去看看",
    "thanks!",
    "2+2=?",
    "",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_statements_are_found(text: str, expected: list[tuple[str, MemoryType, str | None]]) -> None:
    assert [(f.content, f.memory_type, f.topic_key) for f in find(text)] == expected


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_statement_is_left(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "content", "memory_type"),
    [
        ("Remember that my flight is on Friday.", "my flight is on Friday", "fact"),
        ("Can you remember that I hate cilantro?", "I hate cilantro", "preference"),
        ("Please remember to always run the tests", "always run the tests", "constraint"),
        ("The deadline is May 3. Remember that.", "The deadline is May 3", "fact"),
        ("My tags look like <memory>; keep that in mind.", "My tags look like <memory>", "fact"),
        ("请记住我的护照在抽屉里", "我的护照在抽屉里", "fact"),
        ("记住：每周三下午三点开会。", "每周三下午三点开会", "fact"),
        ("我的护照在抽屉里，记住了", "我的护照在抽屉里", "fact"),
    ],
)
def test_explicit_requests(text: str, content: str, memory_type: MemoryType) -> None:
    (finding,) = find_explicit(text)
    assert (finding.content, finding.memory_type, finding.explicit) == (content, memory_type, True)
    assert find(text) == [finding], "it is not found a second time"


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("我喜欢吃辣，记住我住在巴黎 🦑", "我住在巴黎 🦑", "我喜欢吃辣"),
        ("I love chess, and remember that my flat is in Paris", "my flat is in Paris", "I love chess"),
    ],
)
def test_a_request_within_a_sentence(text: str, asked: str, said: str) -> None:
    assert {finding.content: finding.explicit for finding in find(text)} == {asked: True, said: False}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I like strong coffee", "I like strong coffee.", True),
        ("I really like strong coffee", "I like strong coffee", True),
        ("I like spicy food", "I don't like spicy food", False),
        ("I live in Paris", "I live in Rome", False),
        ("My flight is on May 3", "My flight is on May 4", False),
        ("我喜欢吃辣", "我不喜欢吃香菜", False),
        ("我喜欢吃辣", "我很喜欢吃辣", True),
        ("我在北京的一家银行工作", "我在南京的一家银行工作", False),
        ("我喜欢吃辣", "我喜欢吃辣的", True),
    ],
)
def test_near_duplicates_respect_polarity_numbers_and_names(one: str, other: str, same: bool) -> None:
    assert is_near_duplicate(one, other, 0.8) is same
    assert is_near_duplicate(other, one, 0.8) is same


@pytest.mark.parametrize(
    "text", ["hi", "Hello there!", "ok thanks", "好的", "好的，谢谢！", "嗯嗯", "3 * 4 =", "12+5等于多少？", "👍"]
)
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["hi, my tap leaks", "好的，那水龙头怎么修", "no, use Postgres", "what is 3 * x", "早餐吃什么"]
)
def test_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


def test_polarity_and_names() -> None:
    assert is_negative("I never eat fish")
    assert is_negative("我没有车")
    assert not is_negative("不错，我喜欢")
    assert names("Today I met Ana at PyCon in k8s land.") == {"ana", "pycon", "k8s"}


def test_what_the_user_typed() -> None:
    assert typed_part("see\n```py\nI live\n```\n> quoted\nmine") == "see\n\n\n\nmine"
    assert looks_pasted("x" * 1001)
    assert not looks_pasted("x" * 1000)


def test_grounding() -> None:
    turn = "How many eggs do I need for 2 cakes in Oslo? — You need 6 eggs."
    assert is_grounded("6 eggs for 2 cakes", turn)
    assert not is_grounded("12 eggs for 2 cakes", turn), "an invented number"
    assert not is_grounded("eggs for cakes in Berlin", turn), "an invented name"
    assert not is_grounded("The moon is made of green cheese", turn)


def test_gist_is_short_and_made_of_the_turn() -> None:
    answer = (
        "# Eggs\n\nGood question. **Boil** the eggs for six minutes, then cool them.\n```\ncode\n```\n" + "More. " * 200
    )
    english = gist("Hi! How long do I boil eggs so that they stay soft?", answer)
    assert english == "How long do I boil eggs so that they stay soft? — Boil the eggs for six minutes, then cool them."
    assert fits(english)
    chinese = gist("鸡蛋要煮几分钟才能保持溏心的状态呢？我总是煮老。", "煮六分钟即可。" + "然后放进冷水里冷却。" * 20)
    assert chinese.startswith("鸡蛋要煮几分钟")
    assert len(chinese) <= 50
    assert fits(gist("word " * 500, "answer " * 500))
    assert len(gist("x" * 5000, "y" * 5000)) < 500


def test_tidy_takes_one_plain_line() -> None:
    assert tidy('  "**Eggs** take [six](http://x) minutes."\n\nNote: more') == "Eggs take six minutes."
    assert tidy("```\nonly code\n```") == ""


def test_of_a_pasted_book_only_the_beginning_is_looked_through() -> None:
    book = "a word or two. " * 2_000
    assert find(f"I love chess. {book}") == find("I love chess.")
    assert find_explicit(f"{book} Remember that I love chess.") == []
