"""Events on their way to a watcher: what piles up is bounded by the text it holds."""

from memory.events import ReasoningDelta, SubagentDelta, TextDelta, TurnEvent, Waiting
from memory.turns.outbox import Outbox


async def told(*events: TurnEvent) -> list[TurnEvent]:
    outbox = Outbox()
    for event in events:
        outbox.put(event)
    outbox.end()
    found = []
    while (event := await outbox.get()) is not None:
        found.append(event)
    return found


def part(run_id: int, text: str, kind: str = "text", tokens: int = 0) -> SubagentDelta:
    return SubagentDelta("t", run_id, kind, text, tokens)  # type: ignore[arg-type]


async def test_deltas_join_and_kinds_do_not() -> None:
    wait = Waiting("t", 1.0, "x")
    deltas = [TextDelta("t", "a"), TextDelta("t", "b"), ReasoningDelta("t", "c"), wait, TextDelta("t", "d")]
    assert await told(*deltas) == [TextDelta("t", "ab"), ReasoningDelta("t", "c"), wait, TextDelta("t", "d")]


async def test_deltas_of_agents_that_come_mixed_join_by_run() -> None:
    flood = [part(number % 3, "x", tokens=number) for number in range(30_000)]
    found = await told(*flood)
    assert [(each.run_id, len(each.text), each.tokens) for each in found if isinstance(each, SubagentDelta)] == [
        (0, 10_000, 29_997),
        (1, 10_000, 29_998),
        (2, 10_000, 29_999),
    ]


async def test_steps_of_an_agent_stay_lines_and_keep_their_place() -> None:
    mixed = [
        part(1, "a"),
        part(1, "reads", "step"),
        part(2, "z"),
        part(1, "writes", "step"),
        part(1, "b"),
        part(1, "c"),
    ]
    found = [(each.run_id, each.text) for each in await told(*mixed) if isinstance(each, SubagentDelta)]
    assert found == [(1, "a"), (1, "reads"), (2, "z"), (1, "writes"), (1, "bc")]


async def test_what_comes_after_a_look_is_a_new_event() -> None:
    outbox = Outbox()
    outbox.put(part(1, "a"))
    assert await outbox.get() == part(1, "a")
    outbox.put(part(1, "b"))
    assert await outbox.get() == part(1, "b")
