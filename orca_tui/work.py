"""Starts work beside the screen's own: the one way in which app and screens make workers."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def start(
    node: DOMNode,
    name: str,
    work: Callable[..., Coroutine[Any, Any, None]],
    *args: object,
    exclusive: bool = False,
) -> None:
    """Run `work(*args)` as a worker of `node`; `exclusive` ends an earlier one of the same name.

    The worker makes the call itself, so one that is cancelled before its first step leaves no coroutine behind.
    """
    job: Callable[[], Coroutine[Any, Any, None]] = partial(work, *args)
    _worker: Worker[None] = node.run_worker(job, name=name, group=name, description=name, exclusive=exclusive)
