import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.config import EmbeddingSettings, Home, LLMSettings, Secret, Settings, SiliconFlowSettings
from memory.errors import AuthenticationFailed, LocalModelMissing
from memory.provider import factory, model_files, presets
from memory.provider.base import ChatModel
from memory.provider.local_chat import LocalChat
from memory.provider.openai_chat import OpenAIChat
from memory.provider.openai_embed import OpenAIEmbedder
from memory.provider.scripted import DemoChat

NOTHING: dict[str, str] = {}
SF = {"SILICONFLOW_API_KEY": "sk-silicon"}
OPENAI = {"OPENAI_API_KEY": "sk-openai"}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the local runtime and nothing that listens."""
    monkeypatch.setattr(presets, "OLLAMA_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(factory, "has_runtime", lambda: True)


@pytest.fixture
def place(home: Path) -> Home:
    made = Home(home)
    made.ensure()
    return made


def install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    files = [
        model_files.ModelFile(name, Path(f"/nowhere/{name}.gguf"), size=1, sha256="", licence="", source="")
        for name in names
    ]
    monkeypatch.setattr(model_files, "installed", lambda home: files)


def llm(**given: Any) -> Settings:
    return Settings(llm=LLMSettings(**given))


async def build(settings: Settings, place: Home, env: dict[str, str]) -> tuple[ChatModel, str, str]:
    """The model, the address it asks, and the key it sends there."""
    chat = await factory.build_chat_model(settings, place, env)
    await chat.close()
    if isinstance(chat, OpenAIChat):
        return chat, chat._endpoint.base_url, chat._endpoint.key()
    return chat, "", ""


CASES = {
    # name: settings, environment, address, key, model
    "own address first": (llm(base_url="http://nas:8000/v1/", model="m"), SF | OPENAI, "http://nas:8000/v1", "", "m"),
    "an address copied whole": (
        llm(base_url=" http://nas/v1/chat/completions/ ", model="m"),
        NOTHING,
        "http://nas/v1",
        "",
        "m",
    ),
    "own address, own key": (llm(base_url="http://nas/v1", api_key=Secret("own")), SF, "http://nas/v1", "own", "nas"),
    "own key by variable": (
        llm(base_url="http://nas/v1", api_key_env="MINE", api_key=Secret("other"), model="m"),
        {"MINE": " by-variable "},
        "http://nas/v1",
        "by-variable",
        "m",
    ),
    "variable not set": (
        llm(base_url="http://nas/v1", api_key_env="MINE", api_key=Secret("own"), model="m"),
        NOTHING,
        "http://nas/v1",
        "own",
        "m",
    ),
    "siliconflow by environment": (
        Settings(),
        SF | OPENAI,
        "https://api.siliconflow.cn/v1",
        "sk-silicon",
        "Qwen/Qwen3-8B",
    ),
    "siliconflow by settings": (
        Settings(siliconflow=SiliconFlowSettings(api_key=Secret("sk-set"), model="x/y")),
        NOTHING,
        "https://api.siliconflow.cn/v1",
        "sk-set",
        "x/y",
    ),
    "siliconflow with the key of llm": (
        llm(provider="siliconflow", api_key=Secret("own"), model="m"),
        NOTHING,
        "https://api.siliconflow.cn/v1",
        "own",
        "m",
    ),
    "siliconflow never at another address": (
        llm(provider="siliconflow", base_url="http://nas/v1"),
        SF,
        "https://api.siliconflow.cn/v1",
        "sk-silicon",
        "Qwen/Qwen3-8B",
    ),
    "openai by environment": (Settings(), OPENAI, "https://api.openai.com/v1", "sk-openai", presets.OPENAI_MODEL),
    "openai at the environment's address": (
        Settings(),
        OPENAI | {"OPENAI_BASE_URL": "http://gate/v1"},
        "http://gate/v1",
        "sk-openai",
        "gate",
    ),
    "openai at its written address": (
        llm(base_url="https://api.openai.com/v1", model="m"),
        OPENAI,
        "https://api.openai.com/v1",
        "sk-openai",
        "m",
    ),
    "siliconflow at its written address": (
        llm(base_url="https://api.siliconflow.cn/v1", model="m"),
        SF | OPENAI,
        "https://api.siliconflow.cn/v1",
        "sk-silicon",
        "m",
    ),
    "ollama elsewhere": (
        llm(provider="ollama", base_url="http://nas:11434/v1", model="m"),
        SF,
        "http://nas:11434/v1",
        "",
        "m",
    ),
    "ollama here": (llm(provider="ollama", model="m"), SF | OPENAI, "http://127.0.0.1:9/v1", "", "m"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_which_server_gets_which_key(case: tuple[Settings, dict[str, str], str, str, str], place: Home) -> None:
    settings, env, address, key, name = case
    chat, asked, sent = await build(settings, place, env)
    assert (asked, sent, chat.name) == (address, key, name)


@pytest.mark.parametrize("kind", ["siliconflow", "openai"])
async def test_a_key_that_is_missing_is_told_at_once(kind: Any, place: Home) -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        await factory.build_chat_model(llm(provider=kind), place, NOTHING)
    assert f"{kind.upper()}_API_KEY" in caught.value.hint


async def test_a_strange_name_of_a_variable_is_not_repeated(place: Home) -> None:
    chat, _, _ = await build(llm(base_url="http://nas/v1", api_key_env="sk-pasted-here"), place, NOTHING)
    assert isinstance(chat, OpenAIChat)
    assert "pasted" not in chat._endpoint.key_hint


async def test_with_nothing_at_all_there_is_the_demo(place: Home) -> None:
    chat, _, _ = await build(Settings(), place, NOTHING)
    assert isinstance(chat, DemoChat)
    chat, _, _ = await build(llm(provider="demo", base_url="http://nas/v1"), place, OPENAI)
    assert isinstance(chat, DemoChat)


@asynccontextmanager
async def ollama(monkeypatch: pytest.MonkeyPatch, body: bytes) -> AsyncIterator[None]:
    """A server on this machine that answers every request alike."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline():
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setattr(presets, "OLLAMA_URL", f"http://127.0.0.1:{port}/v1")
    async with server:
        yield


async def test_ollama_is_found_when_nothing_else_is_configured(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "own")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with ollama(monkeypatch, b'{"data": [{"id": "bge-m3"}, {"id": "llama3.2:latest"}]}'):
        choice = (await factory.list_choices(Settings(), place, NOTHING))[2]
        assert (choice.kind, choice.model, choice.available) == ("ollama", "llama3.2:latest", True)
        chat, asked, _ = await build(Settings(), place, NOTHING)
        assert asked == presets.OLLAMA_URL
        assert isinstance(chat, OpenAIChat)
        other = (await factory.list_choices(llm(model="qwen3"), place, NOTHING))[2]
        assert (other.available, "ollama pull qwen3" in other.detail) == (False, True)
        assert isinstance((await build(llm(model="own"), place, NOTHING))[0], LocalChat)


async def test_ollama_without_a_model_is_not_taken(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ollama(monkeypatch, b'{"data": null}'):
        choice = (await factory.list_choices(Settings(), place, NOTHING))[2]
        assert not choice.available
        assert "ollama pull" in choice.detail
        assert isinstance((await build(Settings(), place, NOTHING))[0], DemoChat)


async def test_a_server_in_ollamas_place_that_talks_nonsense(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ollama(monkeypatch, b"\xff<html>"):
        assert not (await factory.list_choices(Settings(), place, NOTHING))[2].available


@pytest.mark.parametrize(
    ("names", "wanted", "chosen"),
    [
        (["own", model_files.BUILTIN.name], "", "own"),
        ([model_files.BUILTIN.name], "", model_files.BUILTIN.name),
        (["a", "b"], "b", "b"),
        (["a", "b"], "unknown", "a"),
    ],
)
async def test_which_model_file(
    names: list[str], wanted: str, chosen: str, place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, *names)
    choice = (await factory.list_choices(llm(model=wanted), place, NOTHING))[3]
    assert (choice.kind, choice.model, choice.available) == ("local", chosen, True)
    assert isinstance((await build(llm(model=wanted), place, NOTHING))[0], LocalChat)


async def test_a_local_model_that_is_missing(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LocalModelMissing) as caught:
        await factory.build_chat_model(llm(provider="local"), place, NOTHING)
    assert "model add" in caught.value.hint
    install(monkeypatch, "a")
    with pytest.raises(LocalModelMissing, match="unknown"):
        await factory.build_chat_model(llm(provider="local", model="unknown"), place, NOTHING)
    monkeypatch.setattr(factory, "has_runtime", lambda: False)
    with pytest.raises(LocalModelMissing) as caught:
        await factory.build_chat_model(llm(provider="local"), place, NOTHING)
    assert "orca-tui[local]" in caught.value.hint
    choice = (await factory.list_choices(Settings(), place, NOTHING))[3]
    assert (choice.available, "orca-tui[local]" in choice.detail) == (False, True)


async def test_choices_come_in_the_order_of_auto_and_say_what_to_do(place: Home) -> None:
    choices = await factory.list_choices(Settings(), place, NOTHING)
    assert [choice.kind for choice in choices] == ["siliconflow", "openai", "ollama", "local", "demo"]
    assert [choice.available for choice in choices] == [False, False, False, False, True]
    assert all(choice.detail for choice in choices)
    choices = await factory.list_choices(llm(base_url="http://nas\x1b[2J/v1"), place, SF)
    assert [choice.kind for choice in choices[:2]] == ["openai", "siliconflow"]
    assert [choice.available for choice in choices[:2]] == [True, True]
    assert not [choice for choice in choices if "\x1b" in choice.label + choice.detail or "sk-silicon" in repr(choice)]


def embedding(**given: Any) -> Settings:
    return Settings(embedding=EmbeddingSettings(**given))


EMBEDDERS = {
    # name: settings, environment, address, key, model, width
    "auto": (embedding(), SF, "https://api.siliconflow.cn/v1", "sk-silicon", "Pro/BAAI/bge-m3", 1024),
    "another model there": (
        embedding(provider="siliconflow", model="x/y", dimensions=64),
        SF,
        "https://api.siliconflow.cn/v1",
        "sk-silicon",
        "x/y",
        64,
    ),
    "own address": (
        embedding(base_url="http://nas/v1", model="nomic-embed-text", dimensions=768),
        SF,
        "http://nas/v1",
        "",
        "nomic-embed-text",
        768,
    ),
    "openai": (
        embedding(provider="openai"),
        OPENAI,
        "https://api.openai.com/v1",
        "sk-openai",
        "text-embedding-3-small",
        1536,
    ),
    "the key of llm at the same address": (
        replace(embedding(base_url="http://nas/v1"), llm=LLMSettings(base_url="http://nas/v1", api_key=Secret("own"))),
        OPENAI,
        "http://nas/v1",
        "own",
        "text-embedding-3-small",
        1536,
    ),
}


@pytest.mark.parametrize("case", EMBEDDERS.values(), ids=EMBEDDERS.keys())
def test_which_embedder(case: tuple[Settings, dict[str, str], str, str, str, int], place: Home) -> None:
    settings, env, address, key, name, width = case
    made = factory.build_embedder(settings, place, env)
    assert isinstance(made, OpenAIEmbedder)
    assert (made._endpoint.base_url, made._endpoint.key(), made.model, made.width) == (address, key, name, width)


@pytest.mark.parametrize("kind", ["siliconflow", "openai"])
def test_an_embedder_without_its_key(kind: Any, place: Home) -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        factory.build_embedder(embedding(provider=kind), place, NOTHING)
    assert f"{kind.upper()}_API_KEY" in caught.value.hint


def test_embedding_off_or_built_in(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.provider import local_embed

    built_in = object()
    monkeypatch.setattr(local_embed, "local_embedder", lambda: built_in)
    assert factory.build_embedder(embedding(provider="off"), place, SF) is None
    assert factory.build_embedder(embedding(provider="local"), place, SF) is built_in
    assert factory.build_embedder(embedding(), place, NOTHING) is built_in


def test_choosing_a_provider_loads_no_heavy_library() -> None:
    rooms = "memory.provider.factory, memory.provider.openai_chat, memory.provider.openai_embed"
    heavy = ("openai", "httpx2", "anyio", "numpy", "pydantic", "xllamacpp", "textual", "rich")
    code = f"import sys, {rooms}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
