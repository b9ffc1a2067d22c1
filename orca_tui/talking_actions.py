"""The commands about the talk itself: stop, ask again, go on, edit an earlier message, forks, what waits."""

import asyncio

from memory.errors import OrcaError
from memory.store.run_store import AGENT_TASK
from memory.text import label
from memory.turns import forks
from orca_tui.answering_actions import AnsweringActions
from orca_tui.attach_actions import AttachActions
from orca_tui.attaching import written_of
from orca_tui.i18n import _


class TalkingActions(AnsweringActions, AttachActions):
    """One method a command, named like it; a name that Python keeps for itself has `_` behind it."""

    async def stop(self, _argument: str) -> None:
        """Put an overlay away, else leave an edit, else stop the reply, else take back what waits, else go back to the
        composer."""
        chat = self._app.chat
        if chat.close_overlay() or self._app.writing.drop_edit() or self._talk().stop():
            return
        if chat.focused is chat.composer and not chat.composer.text:
            self._app.queue.take_all_back()
        chat.composer.focus()

    async def retry(self, argument: str) -> None:
        """Answer again: the reply with the number `argument`, or the newest."""
        self._require_rest()
        await self._talk().retry(self._number(argument))

    async def plain(self, _argument: str) -> None:
        """Answer again, without memory."""
        self._require_rest()
        await self._talk().retry(use_memory=False)

    async def continue_(self, _argument: str) -> None:
        """Let the model go on with the newest reply."""
        self._require_rest()
        await self._talk().go_on()

    async def edit(self, argument: str) -> None:
        """Put an earlier message (that with the number `argument`, or the newest) into the composer."""
        number = self._number(argument)
        asked = [one for one in self._app.chat.messages if one.role == "user"]
        message = next((one for one in reversed(asked) if number in (None, one.id)), None)
        if message is None:
            raise OrcaError(_("There is no message of yours to edit."))
        if message.metadata.get(AGENT_TASK):
            raise OrcaError(
                _("A task for an agent cannot be edited."),
                hint=_("/retry lets the agent do it again, /agent gives it another one."),
            )
        written = await asyncio.to_thread(written_of, message, self._talk().core.files)
        self._app.writing.edit(message, forks.above(message), written.as_written)

    async def unqueue(self, argument: str) -> None:
        """Take back the newest message that waits, or `all` of them."""
        queue = self._app.queue
        found = queue.take_all_back() if argument.strip().lower() == "all" else queue.take_back()
        if not found:
            raise OrcaError(_("No message waits in this session."))

    # forks

    async def fork_before(self, argument: str) -> None:
        """Show the fork before."""
        await self._step(argument, -1)

    async def fork_after(self, argument: str) -> None:
        """Show the next fork."""
        await self._step(argument, 1)

    async def tree(self, argument: str) -> None:
        """All messages of the session; the one that is chosen there is gone to."""
        from orca_tui.screens.tree import TreeScreen

        talk = self._talk()
        session_id = talk.session_id
        if session_id is None:
            raise OrcaError(_("This session has no messages yet."))
        start = self._number(argument) if argument else None
        screen = TreeScreen(lambda: forks.tree(talk.core.store, session_id), start=start)
        chosen = await self._app.push_screen_wait(screen)
        if chosen is not None:
            await self._show_fork(chosen)

    async def _step(self, argument: str, step: int) -> None:
        number = self._number(argument)
        if number is None:
            raise OrcaError(_("There is no message under the cursor"))
        beside = await asyncio.to_thread(forks.siblings, self._talk().core.store, number)
        place = next(at for at, one in enumerate(beside) if one.id == number) + step
        if len(beside) < 2:
            raise OrcaError(_("This message has no forks beside it."))
        if not 0 <= place < len(beside):
            told = _("This is the first fork") if step < 0 else _("This is the last fork")
            self._app.chat.hint_line.say(told)
            return
        await self._show_fork(beside[place].id)

    async def _show_fork(self, message_id: int) -> None:
        """Choose the path through a message, and go to it in the transcript."""
        chat = self._app.chat
        if all(one.id != message_id for one in chat.messages):
            await self._talk().switch(message_id)
        transcript = chat.transcript
        if transcript.go_to(str(message_id)) or transcript.go_to(f"{message_id}-error"):
            transcript.focus()

    # behind them

    def _number(self, argument: str) -> int | None:
        """The id of a message; `None` without one. Raises `OrcaError` for what is no number."""
        text = argument.strip()
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise OrcaError(_("There is no message {number} in this session.", number=label(text, 40)))
        return int(text)

    def _require_rest(self) -> None:
        if self._talk().busy:
            raise OrcaError(_("The reply is still being written; Esc stops it"))
