"""Makes small GGUF heads for tests."""

import struct


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(context: int | None = 2048, *, name: str = "sample", filler: bytes = b"\0" * 64) -> bytes:
    """A head with a few keys of every kind, and `filler` where the weights would be."""
    keys = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.name") + struct.pack("<I", 8) + text(name),
        text("general.flag") + struct.pack("<I?", 7, True),
        text("general.languages") + struct.pack("<IIQ", 9, 8, 2) + text("en") + text("zh"),
        text("general.numbers") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3),
    ]
    if context is not None:
        keys.append(text("llama.context_length") + struct.pack("<II", 4, context))
    keys.append(text("tokenizer.chat_template") + struct.pack("<I", 8) + text("{{ messages }}"))
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys) + filler
