"""A secret that the user writes stays in its conversation and becomes nothing else; what looks like one is kept."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.curation.exchange import export_key, import_memories
from memory.errors import SecretRefused
from memory.events import SecretNoticed
from memory.provider.base import ChatMessage
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.redaction import redact
from memory.writing.secrets import masked, secret_kind
from tests.helpers import FakeClock, events_of, opened, say

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAB3Nza\n-----END OPENSSH PRIVATE KEY-----"

SECRETS = [
    ("sk-proj-abc123def456ghi789", "key"),
    ("my key: sk-ant-api03-Zx9Zx9Zx9Zx9Zx9", "key"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "key"),
    ("github_pat_11ABCDE0000aaaaBBBB", "key"),
    ("glpat-x1x2x3x4x5x6x7x8", "key"),
    ("AKIAIOSFODNN7EXAMPLE", "key"),
    ("AIzaSyA-1234567890abcdefghijklmnopqrs", "key"),
    ("xoxb-123456789012-abcdefABCDEF", "key"),
    ("hf_AbCdEfGhIj1234567890", "key"),
    (f"use {JWT} for it", "token"),
    ("Authorization: Bearer a1b2c3d4e5f6g7h8", "token"),
    (PRIVATE, "private key"),
    ("-----BEGIN PRIVATE KEY-----", "private key"),
    ("password: x9", "password"),
    ("password=hunter2", "password"),
    ('{"password": "s3cret!"}', "password"),
    ("My wifi password is swordfish", "password"),
    ("the password for the router is blue42", "password"),
    ("My PIN is 4711", "password"),
    ("api key = 0123456789abcdef", "password"),
    ("my token is a1b2c3d4e5", "token"),
    ("https://u:p@host/x", "password"),
    ("postgres://me:hunter2@db.example/shop", "password"),
    ("我的密码是123456", "password"),
    ("验证码：884213", "password"),
    ("密钥为abcd1234", "password"),
]
HARMLESS = [
    "I work with sk-learn-contrib-examples every day",
    "The commit is 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "The password is required for every user",
    "A password is not enough",
    "password: str",
    "What is the password?",
    "The token limit is 4096 tokens",
    "My token is expired",
    "The secret is to use less salt",
    "The pin is on the map",
    "My API key is invalid, what now?",
    "The bearer authentication scheme is simple",
    "Keys like sk-… are masked",
    "https://example.org:8080/path and me@example.org",
    "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "AKIA is a prefix",
    "密码不能为空",
    "我的密码是什么？",
    "密码是必填项",
    "请解释公钥和私钥的区别",
    "我喜欢用令牌桶算法",
]


@pytest.mark.parametrize(("text", "kind"), SECRETS)
def test_secrets_are_seen_and_masked(text: str, kind: str) -> None:
    assert secret_kind(text) == kind
    assert secret_kind(masked(text)) == ""


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert secret_kind(text) == ""
    assert masked(text) is text


@given(st.lists(st.sampled_from([*[text for text, _ in SECRETS], *HARMLESS, " ", "\n", "，", "x"]), max_size=6))
def test_masking_is_idempotent(parts: list[str]) -> None:
    once = masked("".join(parts))
    assert masked(once) == once


@given(st.text())
def test_masking_and_redaction_never_fail(text: str) -> None:
    masked(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("text", [text for text, kind in SECRETS if kind in ("key", "private key")])
def test_what_is_shaped_like_a_key_is_redacted(text: str) -> None:
    secret = max(text.split(), key=len)
    assert secret not in redact(f"failed: {text}")


def test_known_values_are_redacted_whatever_their_shape() -> None:
    assert redact("of plainword and short", ["plainword", "short"]) == "of … and short"


class Listening(HashEmbedder):
    """Remembers every text that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    async def embed(self, texts: Sequence[str], kind: str = "passage"):  # type: ignore[no-untyped-def,override]
        self.heard += texts
        return await super().embed(texts, kind)  # type: ignore[arg-type]


def greedy(messages: Sequence[ChatMessage], options: object = None) -> str:
    """Repeats what it is told, and wants all of it remembered."""
    wanted = [json.loads(line) for line in messages[-1].content.splitlines() if line.startswith('{"message"')]
    if wanted:
        memories = [
            {"message": item["message"], "type": "fact", "content": item["text"], "quote": item["text"]}
            for item in wanted
        ]
        return json.dumps({"memories": memories})
    return f"You said: {messages[-1].content}"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Remember that my key is sk-proj-abc123def456ghi789 and that I like tea", "sk-proj-abc123def456ghi789"),
        ("My wifi password is swordfish", "swordfish"),
        (f"I use this login every day: {JWT}", JWT),
        ("记住我的密码是hunter2bay，我住在成都", "hunter2bay"),
    ],
)
async def test_a_secret_stays_in_its_conversation(home: Path, text: str, secret: str) -> None:
    embedder = Listening()
    chat = ScriptedChat([greedy] * 60)
    async with opened(home, chat, embedder=embedder) as core:
        told: list[object] = []
        core.subscribe(told.append)
        session = core.store.create_session()
        await say(core, session.id, text)
        await say(core, session.id, text)
        core.maintenance.end_session(session.id)
        await core.maintenance.settled()
        other = core.store.create_session()
        await events_of(core.engine.start(other.id, "Which key, password, login or wifi do I use? 我的密码"))
        asked = "".join(message.content for message in chat.requests[-1])
        noticed = [event for event in told if isinstance(event, SecretNoticed)]
        assert len(noticed) == 1, "said once"
        assert secret not in repr(noticed)
        assert secret not in asked, "in the prompt of another conversation"
        upkeep = [r for r in chat.requests if r[0].role == "system"]
        assert upkeep
        assert secret not in repr(upkeep), "sent for upkeep"
        assert core.store.path(session.id)[0].content == text, "the conversation itself is the user's"
    assert not [heard for heard in embedder.heard if secret in heard]
    database = sqlite3.connect(home / "memory.db")
    for query in (
        "SELECT content FROM long_term_memories",
        "SELECT content FROM short_term_memories",
        "SELECT title FROM sessions",
        "SELECT coalesce(before, '') || coalesce(after, '') FROM memory_events",
    ):
        assert not [row for row in database.execute(query) if secret in str(row[0])], query
    database.close()
    assert not (home / "orca.log").exists() or secret not in (home / "orca.log").read_text("utf-8")


async def test_the_harmless_half_is_remembered(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "My wifi password is swordfish. I live in Oslo")
        assert [row.content for row in core.curator.all()] == ["I live in Oslo"]


async def test_neither_tools_nor_files_bring_secrets_in(home: Path) -> None:
    async with opened(home) as core:
        with pytest.raises(SecretRefused):
            core.curator.propose("the api key is 0123456789abcdef")
        text = json.dumps([{"content": "password: hunter2"}, {"content": "likes tea"}])
        key = export_key(home / "export.key")
        done = import_memories(core.curator, text, key, clock=FakeClock(), settings=core.settings.memory)
        assert len(done.added) == 1
        assert "secret" in done.skipped[0]
