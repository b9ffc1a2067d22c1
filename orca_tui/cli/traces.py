"""The runs of subagents as text: a tree below the message that called for them."""

from collections.abc import Iterator, Sequence

from memory.text import label
from memory.types import SubagentRun
from orca_tui.plain import local_time, plain_print

SHOWN_TASK = 200
"""Characters of a task in a line."""


def print_runs(runs: Sequence[SubagentRun], message_id: int) -> None:
    """Print the runs below one message, each with its whole reply, those that it called indented below it."""
    for depth, run in in_order([run for run in runs if run.parent_msg_id == message_id]):
        indent = "  " * (depth + 1)
        plain_print(f"\n{indent}{_head(run)}")
        plain_print(f"{indent}task: {label(run.task, SHOWN_TASK)}")
        for line in run.content.splitlines():
            plain_print(f"{indent}{line}" if line else "")


def in_order(runs: Sequence[SubagentRun]) -> Iterator[tuple[int, SubagentRun]]:
    """The runs as a tree, callers before those that they called, each with its depth from 0."""
    known = {run.id for run in runs}

    def below(parent: int | None, depth: int) -> Iterator[tuple[int, SubagentRun]]:
        for run in runs:
            if (run.parent_run_id if run.parent_run_id in known else None) == parent:
                yield depth, run
                yield from below(run.id, depth + 1)

    return below(None, 0)


def _head(run: SubagentRun) -> str:
    tokens = f"{run.token_count} tokens"
    if run.subtree_tokens > run.token_count:
        tokens += f", {run.subtree_tokens} with those that it called"
    cut = ", cut" if run.truncated else ""
    return f"{local_time(run.started_at)}  {label(run.agent_name, 64)} (run {run.id}): {run.state}{cut}, {tokens}"
