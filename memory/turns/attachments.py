"""Files that go with a message: text is put into it, quoted; pictures are kept beside it, for models that see."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memory.errors import AttachmentError
from memory.text import label

MAX_TEXT = 1_000_000
"""Bytes of a text file."""
MAX_IMAGE = 10_000_000
"""Bytes of a picture."""

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BACKTICKS = re.compile(r"`+")
_SUFFIX = re.compile(r"\.([A-Za-z0-9+#-]{1,12})$")
NAME_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file that is to go with a message."""

    name: str
    """One line, cleaned."""
    kind: Literal["text", "image"]
    media_type: str
    text: str = field(default="", repr=False)
    """Text files only."""
    data: bytes = field(default=b"", repr=False)
    """Pictures only."""
    size: int = 0
    """Bytes of the file."""


def load_attachment(path: Path | str) -> Attachment:
    """Read a file: a picture (PNG, JPEG, GIF, WebP) or text (UTF-8, UTF-16, GB 18030). Blocking.

    Raises `AttachmentError` when it is missing, no file, too large, unreadable or of another kind.
    """
    path = Path(path).expanduser()
    name = label(path.name or path.resolve().name, NAME_LENGTH) or "file"
    try:
        if path.is_dir():
            raise AttachmentError(f"{name} is a directory.", hint="Attach the files in it one by one.")
        if path.exists() and not path.is_file():
            raise AttachmentError(f"{name} is not a regular file.", hint="Copy what it gives into a file first.")
        with path.open("rb") as file:
            data = file.read(MAX_IMAGE + 1)
    except FileNotFoundError:
        raise AttachmentError(f"There is no file {name}.", hint=f"Check the path: {label(str(path), 200)}") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "its path cannot be used"
        raise AttachmentError(f"{name} cannot be read: {reason}.", hint="Check that you may read it.") from error
    return attachment_of(name, data)


def attachment_of(name: str, data: bytes) -> Attachment:
    """The attachment that `data` makes. Raises `AttachmentError`."""
    media_type = image_type(data)
    if len(data) > (MAX_IMAGE if media_type else MAX_TEXT):
        most = MAX_IMAGE if media_type else MAX_TEXT
        hint = "Make the picture smaller." if media_type else "Attach the part that matters."
        raise AttachmentError(f"{name} is larger than {most // 1_000_000} MB.", hint=hint)
    if not data:
        raise AttachmentError(f"{name} is empty.", hint="Attach a file with something in it.")
    if media_type:
        return Attachment(name, "image", media_type, data=data, size=len(data))
    return Attachment(name, "text", "text/plain", text=_decoded(name, data), size=len(data))


def image_type(data: bytes) -> str:
    """The media type of a picture by its first bytes; empty when it is none that models take."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if data.startswith(magic)), "")


def with_files(text: str, attachments: Sequence[Attachment]) -> tuple[str, list[dict[str, Any]], list[list[int]]]:
    """A message's text with the text files behind it, what its metadata says of the files, and where they stand."""
    facts: list[dict[str, Any]] = []
    spans: list[list[int]] = []
    for attachment in attachments:
        fact: dict[str, Any] = {"name": attachment.name, "kind": attachment.kind, "size": attachment.size}
        if attachment.kind == "image":
            fact |= {"media_type": attachment.media_type, "sha256": hashlib.sha256(attachment.data).hexdigest()}
        else:
            block = _quoted(attachment)
            text = f"{text}\n\n" if text else ""
            spans.append([len(text), len(text) + len(block)])
            text += block
        facts.append(fact)
    return text, facts, spans


def _quoted(attachment: Attachment) -> str:
    """The file's name and its text in a fence that nothing in it can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(attachment.text)), default=0)
    fence = "`" * max(3, longest + 1)
    suffix = _SUFFIX.search(attachment.name)
    language = suffix[1].lower() if suffix else ""
    name = attachment.name.replace("`", "'")
    return f"File `{name}`:\n{fence}{language}\n{attachment.text.rstrip()}\n{fence}"


def _decoded(name: str, data: bytes) -> str:
    marked = next((encoding for mark, encoding in _ENCODINGS if data.startswith(mark)), None)
    for encoding in (marked,) if marked else ("utf-8", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _CONTROL.search(text):
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise AttachmentError(
        f"{name} is neither text nor a picture that models take.",
        hint="Text files (UTF-8, UTF-16, GB 18030), PNG, JPEG, GIF and WebP can be attached.",
    )
