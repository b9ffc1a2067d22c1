"""sqlite-vec: where its extension lies, and whether a connection could load it.

The package is found without importing it: it would pull in the interpreter's own SQLite, and two SQLite libraries in
one process are one too many.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw


@dataclass(frozen=True, slots=True)
class Extension:
    """What came of loading sqlite-vec. Exactly one of the two fields is set."""

    version: str = ""
    problem: str = ""
    """Why it cannot be used here."""

    @property
    def loaded(self) -> bool:
        """Whether vec0 tables can be used."""
        return bool(self.version)


def library() -> Path | None:
    """The path of the loadable library without its suffix; `None` when sqlite-vec is not installed."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "vec0"


def load(connection: "apsw.Connection") -> Extension:
    """Load sqlite-vec into a connection and shut the door behind it. Never raises: the caller has another way."""
    import apsw

    path = library()
    if path is None:
        return Extension(problem="sqlite-vec is not installed")
    try:
        connection.enable_load_extension(True)
        try:
            connection.load_extension(str(path))
        finally:
            connection.enable_load_extension(False)
        version = str(connection.execute("SELECT vec_version()").get)
    except (apsw.Error, AttributeError) as error:
        return Extension(problem=f"sqlite-vec cannot be loaded: {error}")
    return Extension(version=version.removeprefix("v"))
