"""The log: warnings and errors of the core and of libraries, in `$ORCA_HOME/orca.log`, without secrets and prompts."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property

from memory.config import Home
from memory.errors import OrcaError
from memory.redaction import redact
from memory.settings import load_settings
from orca_tui.terminal import write_log


class LogFile(logging.Handler):
    """Appends records to the log of a home; every key that this process can know is masked."""

    def __init__(self, home: Home, env: Mapping[str, str] | None = None) -> None:
        super().__init__(logging.WARNING)
        self._home = home
        self._env = os.environ if env is None else env
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record. A record that cannot be written is dropped: logging never breaks the program."""
        with suppress(Exception):
            write_log(self._home, self.masked(self.format(record)))

    def masked(self, text: str) -> str:
        """The text with every known key, and all that is shaped like one, replaced by `…`."""

        from memory.provider.keys import fetched_keys

        return redact(text, [*self._secrets, *fetched_keys()])

    @cached_property
    def _secrets(self) -> list[str]:
        found = [value for name, value in self._env.items() if name.endswith(("_KEY", "_TOKEN", "_SECRET", "PASSWORD"))]
        with suppress(OrcaError):
            settings = load_settings(self._home, self._env)
            found += [part.api_key.reveal() for part in (settings.llm, settings.siliconflow, settings.embedding)]
        return found


@contextmanager
def log_to(home: Home) -> Iterator[LogFile]:
    """Send what any logger warns of to the log instead of the terminal."""
    handler, root = LogFile(home), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
