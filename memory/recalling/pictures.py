"""Pictures that go with messages: which of them a request holds, and what stands for the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.errors import AttachmentError
from memory.provider.base import Image
from memory.types import Message
from memory.writing.trust import ATTACHMENTS

IMAGE_TOKENS = 1_100
"""What a picture is taken to cost; servers scale them to about that."""
MOST = 8
"""Pictures in one request, the newest: each is sent whole every time."""

LoadImage = Callable[[str], bytes]
"""Gives the bytes of a stored file by its SHA-256. Raises `AttachmentError`."""


def images_of(message: Message) -> list[Mapping[str, Any]]:
    """What a message's metadata says of its pictures."""
    files = message.metadata.get(ATTACHMENTS)
    return [file for file in files if isinstance(file, dict) and file.get("kind") == "image"] if files else []


def shown_pictures(
    messages: Sequence[Message], load: LoadImage, *, only_newest: bool
) -> tuple[list[Message], dict[int, tuple[Image, ...]]]:
    """The messages with a name in the place of each picture that does not go, and those that go, by message id.

    `only_newest`: the model does not see (its server said so); only what has just been attached goes, to be told so.
    """
    room, told, found = MOST, list[Message](), dict[int, tuple[Image, ...]]()
    newest = messages[-1] if messages else None
    for message in reversed(messages):
        names, images = list[str](), list[Image]()
        for file in images_of(message):
            data = None
            if len(images) < room and (message is newest or not only_newest):
                data = _loaded(str(file.get("sha256")), load)
            if data is None:
                names.append(f"[image: {file.get('name')}]")
            else:
                images.append(Image(str(file.get("media_type")), data))
        room -= len(images)
        if images:
            found[message.id] = tuple(images)
        told.append(replace(message, content="\n\n".join([message.content, *names]).strip()) if names else message)
    return told[::-1], found


def _loaded(sha256: str, load: LoadImage) -> bytes | None:
    try:
        return load(sha256)
    except AttachmentError:
        return None
