"""Local chat: a stand-in runtime in a real process, and once the real model."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gguf_sample import gguf

from memory.config import LLMSettings, Secret
from memory.errors import (
    ContextTooLong,
    LocalModelMissing,
    ProviderTimeout,
    RequestRefused,
    ServerFailed,
    StreamCut,
    ToolsUnsupported,
)
from memory.provider import local_chat
from memory.provider.base import ChatMessage, ChatOptions, FinishPart, ReasoningPart, TextPart, ToolSpec, UsagePart
from memory.provider.local_chat import LocalChat
from memory.types import ContextWindow, Usage

RUNTIME = Path(__file__).with_name("fake_runtime")


@pytest.fixture(autouse=True)
def stand_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "local" not in request.keywords:
        monkeypatch.setenv("PYTHONPATH", str(RUNTIME))
        monkeypatch.setattr(local_chat, "RUNTIME", "json")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sample.gguf"
    path.write_bytes(gguf(2048))
    return path


@pytest.fixture
async def model(file: Path) -> AsyncIterator[LocalChat]:
    chat = LocalChat(file, LLMSettings())
    yield chat
    await chat.close()


def say(text: str) -> list[ChatMessage]:
    return [ChatMessage("user", text)]


async def text_of(model: LocalChat, text: str, options: ChatOptions | None = None) -> str:
    return "".join([part.text async for part in model.stream(say(text), options) if isinstance(part, TextPart)])


async def test_tools_are_not_for_models_on_this_machine(model: LocalChat) -> None:
    with pytest.raises(ToolsUnsupported, match="sample"):
        await text_of(model, "hi", ChatOptions(tools=(ToolSpec("look", "", {"type": "object"}),)))


async def test_parts_come_as_the_runtime_gives_them(model: LocalChat) -> None:
    parts = [part async for part in model.stream(say("think"))]
    assert parts == [ReasoningPart("hm"), TextPart("ok"), FinishPart("length"), UsagePart(Usage(3, 2))]


async def test_noise_of_the_runtime_reaches_nobody(model: LocalChat, capfd: pytest.CaptureFixture[str]) -> None:
    assert await text_of(model, "noise") == "fine"
    assert capfd.readouterr() == ("", "")


async def test_the_request_has_sampling_a_limit_and_no_bad_characters(model: LocalChat) -> None:
    sent = json.loads(await text_of(model, "echo \ud800\0"))
    assert sent["messages"] == [{"role": "user", "content": "echo ��"}]
    assert sent["stream"] is True
    assert sent["max_tokens"] == local_chat.TINY_REPLY
    assert 0.2 <= sent["temperature"] <= 0.7
    assert sent["repeat_penalty"] > 1


async def test_options_win_over_settings_and_settings_over_defaults(file: Path) -> None:
    settings = LLMSettings(temperature=0.5, max_tokens=77, parameters={"top_p": 0.1, "stream": False, "seed": 1})
    model = LocalChat(file, settings)
    schema = {"type": "object"}
    sent = json.loads(await text_of(model, "echo", ChatOptions(temperature=0.0, extra={"seed": 2}, json_schema=schema)))
    assert (sent["temperature"], sent["max_tokens"], sent["top_p"], sent["seed"]) == (0.0, 77, 0.1, 2)
    assert sent["response_format"]["json_schema"]["schema"] == schema
    assert sent["stream"] is True
    await model.close()


async def test_the_process_sees_no_keys(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICONFLOW_API_KEY", "sk-canary")
    monkeypatch.setenv("SOME_TOKEN", "canary")
    model = LocalChat(file, LLMSettings(api_key=Secret("sk-canary")))
    seen = json.loads(await text_of(model, "environment"))
    assert "PATH" in seen["names"]
    assert not {"SILICONFLOW_API_KEY", "SOME_TOKEN"} & set(seen["names"])
    await model.close()


async def test_closing_a_stream_stops_it_and_the_next_is_answered(model: LocalChat) -> None:
    stream = model.stream(say("endless"))
    assert await anext(stream) == TextPart("more ")
    await stream.aclose()
    async with asyncio.timeout(20):
        assert json.loads(await text_of(model, "echo"))


async def test_cancelling_the_task_stops_it_too(model: LocalChat) -> None:
    await model.warm_up()
    begun = asyncio.Event()

    async def read() -> None:
        async for _ in model.stream(say("endless")):
            begun.set()

    task = asyncio.create_task(read())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):
        assert json.loads(await text_of(model, "echo"))


async def test_requests_at_one_time_are_answered_in_turn(model: LocalChat) -> None:
    answers = await asyncio.gather(*(text_of(model, f"echo {n}") for n in range(4)))
    assert [json.loads(a)["messages"][0]["content"] for a in answers] == [f"echo {n}" for n in range(4)]


@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_a_crash_is_an_error_with_the_partial_reply_kept_and_the_next_start_is_fresh(model: LocalChat) -> None:
    stream = model.stream(say("crash"))
    assert await anext(stream) == TextPart("half")
    with pytest.raises(ServerFailed, match="SIGKILL") as caught:
        await anext(stream)
    assert "Ask again" in caught.value.hint
    assert await text_of(model, "think") == "ok"


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ("overflow", ContextTooLong, "9000 tokens; the local model takes 2048"),
        ("refuse", RequestRefused, "bad schema"),
        ("raise", ServerFailed, "out of luck"),
        ("odd", ServerFailed, "unexpected chunk"),
        ("cut", StreamCut, "without an end"),
    ],
)
async def test_failures_have_names(model: LocalChat, asked: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        await text_of(model, asked)
    assert await text_of(model, "think") == "ok"


async def test_silence_is_a_timeout_and_the_next_start_is_fresh(file: Path) -> None:
    model = LocalChat(file, LLMSettings(idle_timeout=0.3))
    with pytest.raises(ProviderTimeout, match=r"0\.3 seconds"):
        await text_of(model, "silent")
    assert await text_of(model, "think") == "ok"
    await model.close()


async def test_a_model_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(gguf())
    model = LocalChat(path, LLMSettings())
    for _ in range(2):
        with pytest.raises(ServerFailed, match=r"unknown.*architecture") as caught:
            await model.warm_up()
        assert "\x1b" not in str(caught.value)
    await model.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_a_crash_while_loading_is_told(tmp_path: Path) -> None:
    path = tmp_path / "exploding.gguf"
    path.write_bytes(gguf())
    model = LocalChat(path, LLMSettings())
    with pytest.raises(ServerFailed, match="SIGKILL"):
        await model.warm_up()
    await model.close()


async def test_what_is_missing_is_told_with_the_way_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LocalChat(tmp_path / "none.gguf", LLMSettings())
    with pytest.raises(LocalModelMissing) as caught:
        await model.warm_up()
    assert "orca-tui model add builtin" in caught.value.hint
    monkeypatch.setattr(local_chat, "RUNTIME", "surely_not_installed")
    with pytest.raises(LocalModelMissing) as caught:
        await text_of(model, "echo")
    assert "orca-tui[local]" in caught.value.hint
    await model.close()


@pytest.mark.parametrize(
    ("trained", "configured", "served"),
    [(2048, 0, 2048), (8192, 0, 4096), (8192, 6000, 6000), (8192, 99_999, 8192), (None, 0, 4096), (None, 512, 512)],
)
async def test_the_window_is_what_will_be_served(
    tmp_path: Path, trained: int | None, configured: int, served: int
) -> None:
    path = tmp_path / "sample.gguf"
    path.write_bytes(gguf(trained))
    model = LocalChat(path, LLMSettings(context_window=configured))
    assert await model.context_window() == ContextWindow(served, "served")
    assert json.loads(await text_of(model, "environment"))["n_ctx"] == served
    await model.close()


async def test_the_window_of_an_unreadable_file_is_still_told(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"junk")
    for name in ("x.gguf", "none.gguf"):
        assert (await LocalChat(tmp_path / name, LLMSettings()).context_window()).tokens > 0


def test_below_a_gigabyte_a_model_is_tiny(file: Path) -> None:
    assert LocalChat(file, LLMSettings()).tiny
    assert LocalChat(file, LLMSettings()).name == "sample"
    with file.open("r+b") as large:
        large.truncate(1_000_000_001)
    assert not LocalChat(file, LLMSettings()).tiny


@pytest.mark.parametrize(
    ("processors", "load", "expected"),
    [(1, 0.0, 1), (2, 0.1, 2), (2, 1.0, 1), (2, 9.0, 1), (8, 0.2, 7), (8, 3.0, 5), (64, 0.0, 8)],
)
def test_threads_leave_room_for_the_screen_and_others(
    monkeypatch: pytest.MonkeyPatch, processors: int, load: float, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors)), raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    assert local_chat.threads() == expected


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_process_ends_with_its_parent(file: Path) -> None:
    parent = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from memory.config import LLMSettings
        from memory.provider import local_chat
        from memory.provider.base import ChatMessage
        local_chat.RUNTIME = "json"

        async def main():
            model = local_chat.LocalChat(Path({str(file)!r}), LLMSettings())
            async for part in model.stream([ChatMessage("user", "endless")]):
                print(model._worker._process.pid, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
        """
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        os.kill(child, 0)
        process.send_signal(signal.SIGKILL)
    assert ends(child)


def ends(pid: int) -> bool:
    """Whether the process is gone (or only waits to be buried) within some seconds."""
    waiting = [
        "timeout",
        "20",
        "sh",
        "-c",
        f"while kill -0 {pid} 2>/dev/null && ! grep -q 'State:.Z' /proc/{pid}/status; do sleep 0.05; done",
    ]
    return subprocess.run(waiting, check=False).returncode == 0


async def test_it_can_be_closed_twice_and_used_again(model: LocalChat) -> None:
    await model.close()
    assert await text_of(model, "think") == "ok"
    await model.close()
    await model.close()
    assert await text_of(model, "think") == "ok"


@pytest.mark.local
async def test_the_built_in_model_chats(builtin_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = LocalChat(builtin_model, LLMSettings())
    stalls: list[float] = []
    watching = asyncio.create_task(watch(stalls))
    parts = [part async for part in model.stream(say("What is the capital of France?"), ChatOptions(temperature=0.0))]
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    usage = next(part.usage for part in parts if isinstance(part, UsagePart))
    watching.cancel()
    assert "Paris" in text
    assert FinishPart("stop") in parts
    assert usage.prompt_tokens > 10
    assert usage.completion_tokens > 2
    assert await model.context_window() == ContextWindow(4096, "served")
    with pytest.raises(ContextTooLong):
        await text_of(model, "word " * 5000)
    stream = model.stream(say("Tell me a long story about a whale."))
    await anext(stream)
    await stream.aclose()
    assert json.loads(
        await text_of(
            model,
            "Name a colour.",
            ChatOptions(
                max_tokens=60,
                temperature=0.0,
                json_schema={"type": "object", "properties": {"colour": {"enum": ["red"]}}, "required": ["colour"]},
            ),
        )
    ) == {"colour": "red"}
    await model.close()
    assert capfd.readouterr() == ("", "")
    assert len(stalls) > 20, "the loop went on while the model loaded and answered"


async def watch(stalls: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        before = loop.time()
        await asyncio.sleep(0.005)
        stalls.append(loop.time() - before)
