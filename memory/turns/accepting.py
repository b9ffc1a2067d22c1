"""How a turn begins: what the user typed is committed, or what is to be answered is found. Blocking."""

from dataclasses import dataclass

from memory.errors import NotFoundError, OrcaError, TurnInProgress
from memory.recalling.calls import calls_of
from memory.store.base import Store
from memory.store.run_store import AGENT_TASK
from memory.turns.attachments import with_files
from memory.turns.context import Order, TurnContext
from memory.turns.reply import raw_tokens
from memory.types import Message, Session
from memory.writing.trust import ATTACHMENTS, PASTED, mark_pasted


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a turn answers, and where the answer goes."""

    session: Session
    user: Message
    """The message that is answered."""
    above: Message
    """What the reply stands below: the user's message, or the last result of a tool."""
    resumed: Message | None = None
    """The reply that is gone on with; `None`: a new one."""


def accept(context: TurnContext, session_id: str, order: Order) -> Accepted:
    """Do what comes before the model is asked.

    Raises leaves of `StoreError`, `AttachmentError` when a file cannot be kept, and `OrcaError` when there is nothing
    to go on with. What was typed is stored, or an error is raised.
    """
    session = context.store.session(session_id)
    if order.kind == "send":
        return _sent(context, session, order)
    if order.kind == "retry":
        found = _asked_again(context.store, session, order.message_id)
    else:
        found = _gone_on_with(context.store, session)
    if found.user.metadata.get(AGENT_TASK) and not order.agent:
        raise OrcaError("That was a task for an agent.", hint="Let the agent do it again: send the line once more.")
    return found


def _sent(context: TurnContext, session: Session, order: Order) -> Accepted:
    text, files, spans = with_files(order.text, order.attachments)
    _keep_images(context, order)
    spans = sorted([*mark_pasted(order.text, order.pasted), *spans])
    known = ((PASTED, spans), (ATTACHMENTS, files), (AGENT_TASK, order.agent))
    facts = {name: value for name, value in known if value}
    user = context.store.add_message(
        session.id,
        "user",
        text,
        parent_id=order.parent_id,
        token_count=raw_tokens(context.counter, "user", text),
        metadata=facts or None,
    )
    _keep_images(context, order)  # what nobody referred to until now may just have been dropped
    return Accepted(session, user, user)


def _keep_images(context: TurnContext, order: Order) -> None:
    for attachment in order.attachments:
        if attachment.kind == "image":
            context.files.save(attachment.data)


def _asked_again(store: Store, session: Session, message_id: int | None) -> Accepted:
    asked = [message for message in store.path(session.id, tip=message_id) if message.role == "user"]
    if not asked:
        raise NotFoundError("There is no message to answer in this session.", hint="Send one first.")
    return Accepted(session, asked[-1], asked[-1])


def _gone_on_with(store: Store, session: Session) -> Accepted:
    path = store.path(session.id)
    asked = [message for message in path if message.role == "user"]
    if not asked:
        raise NotFoundError("There is no reply to go on with in this session.", hint="Send a message first.")
    user, tip = asked[-1], path[-1]
    if tip.state == "streaming":
        raise TurnInProgress("The reply is still on its way.", hint="Wait for it, or stop it first.")
    if tip.role != "assistant" or calls_of(tip):
        return Accepted(session, user, tip)
    if tip.state == "complete" and tip.metadata.get("finish_reason") != "length":
        raise OrcaError("The newest reply is whole.", hint="Ask for more in a message, or let it be answered again.")
    return Accepted(session, user, path[-2], tip)
