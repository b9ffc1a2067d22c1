"""What the core says: its sentences in English → Chinese, `{name}` where a value stands (`orca_tui.core_words`)."""

from collections.abc import Mapping
from importlib import import_module

PARTS = ("model", "memory", "store", "tools", "settings", "doctor")


def _joined() -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for part in PARTS:
        texts.update(import_module(f"orca_tui.i18n_zh.said_{part}").SAID)
    return texts


SAID: Mapping[str, str] = _joined()
