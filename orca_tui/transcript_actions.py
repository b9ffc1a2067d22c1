"""What is done with one message of the transcript: why it knew what it knew, rating, details. Commands about “the
newest reply” mean the one under the cursor while the transcript has the focus.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from textual.content import Content

from memory.clock import from_iso
from memory.errors import OrcaError
from memory.text import label
from memory.types import Message
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.memory_actions import MemoryActions


class TranscriptActions(MemoryActions):
    """One method a command, named like it."""

    async def copy(self, argument: str) -> None:
        """Put the reply into the clipboard."""
        reply = self._reply(argument)
        if reply is None:
            raise OrcaError(_("There is no reply to copy yet."))
        self._app.copy_to_clipboard(reply.content)

    async def message_deed(self, deed: str, key: str) -> None:
        """Do one of `orca_tui.message_keys` with the message of an entry."""
        if deed == "details":
            await self._details(key)
        else:
            handler: Callable[[str], Awaitable[None]] = getattr(self, "continue_" if deed == "continue" else deed)
            await handler(key.removesuffix("-error"))

    async def _details(self, key: str) -> None:
        from orca_tui.screens.page import Page

        message = next((one for one in self._app.chat.messages if str(one.id) == key), None)
        if message is None:
            raise OrcaError(_("That message is not stored yet"), hint=_("It is as soon as it is complete."))
        store = self._talk().core.store
        given = await asyncio.to_thread(store.injections, message.id) if message.role == "assistant" else ()
        self._app.push_screen(Page(_("Message"), detail_lines(message, len(given))))


def detail_lines(message: Message, given: int) -> list[Content]:
    """Facts about a message, one a line; `given`: how many things memory gave it."""
    facts, known = message.metadata, _usage(message)
    calls = facts.get("tool_calls")
    named = [str(call.get("name")) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    lines = [
        (_("Who"), _(message.role)),
        (_("Model"), str(facts.get("model") or "")),
        (_("When"), _when(message.timestamp)),
        (_("State"), _("interrupted") if facts.get("interrupted") else _(message.state)),
        (_("Ended"), str(facts.get("finish_reason") or "")),
        (_("Tokens of the text"), count(message.token_count) if message.token_count else ""),
        (_("Prompt and reply"), known),
        (_("Reasoning"), _("{n} characters", n=count(len(str(facts["reasoning"])))) if facts.get("reasoning") else ""),
        (_("Tools asked for"), ", ".join(label(name, 60) for name in named)),
        (_("Tool"), str(facts.get("tool") or "")),
        (_("From memory"), _("{n} items · /why shows them", n=count(given)) if given else ""),
        (_("Number"), str(message.id)),
    ]
    width = max(Content(name).cell_length for name, told in lines if told) + 2
    return [_line(name, told, width) for name, told in lines if told]


def _line(name: str, told: str, width: int) -> Content:
    left = Content.styled(name, "$muted")
    return left + Content(" " * (width - left.cell_length)) + Content(label(told, 400))


def _when(timestamp: str) -> str:
    try:
        return from_iso(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return timestamp


def _usage(message: Message) -> str:
    usage = message.metadata.get("usage")
    if not isinstance(usage, Mapping):
        return ""
    prompt, reply = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(reply, int):
        return ""
    told = _("{prompt} + {reply} tokens", prompt=count(prompt), reply=count(reply))
    return told + (f" ({_('estimated')})" if usage.get("estimated") else "")
