"""Keys that are not in the settings themselves: printed by a command of the user's, or kept in the system's keyring.

Both may take long or ask for a passphrase, so they are fetched at the first `reveal`: call that in a thread. What was
fetched is kept for as long as the process lives; nothing of it is ever logged, shown, or put on a command line.
"""

import os
import signal
import subprocess  # nosec B404 - runs what the owner of the settings wrote there, without a shell
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from typing import Any, Protocol, TypeVar

from memory.config import Secret
from memory.errors import AuthenticationFailed
from memory.text import label

T = TypeVar("T")

SERVICE = "orca-tui"
"""Under which name the entries stand in the keyring."""
COMMAND_TIMEOUT = 60.0
"""Seconds that a command may take: a passphrase may have to be typed into its window."""
KEYRING_TIMEOUT = 20.0
"""Seconds that the keyring may take; one that nobody unlocks would wait for ever."""
MAX_OUTPUT = 16_384

NO_KEYRING = 'Use a variable or api_key_command instead, or install a keyring: pip install "orca-tui[keyring]"'


class KeySection(Protocol):
    """A section of the settings that has a key."""

    @property
    def api_key(self) -> Secret:
        """The key in the file."""
        ...

    @property
    def api_key_command(self) -> str:
        """What prints the key."""
        ...

    @property
    def api_key_keyring(self) -> str:
        """The keyring's entry."""
        ...


class LateSecret(Secret):
    """A key that is fetched when it is first needed. `reveal` blocks then, and raises `AuthenticationFailed`."""

    __slots__ = ("_fetch", "_lock")

    def __init__(self, fetch: Callable[[], str], origin: str) -> None:
        super().__init__("", origin)
        self._fetch = fetch
        self._lock = threading.Lock()

    def reveal(self) -> str:
        """The key itself, fetched once."""
        with self._lock:
            if not self._value:
                self._value = self._fetch()
            return self._value

    @property
    def is_fetched(self) -> bool:
        """Whether `reveal` is free by now."""
        return bool(self._value)

    def __bool__(self) -> bool:
        return True


_late: dict[tuple[str, str], LateSecret] = {}


def stored_key(section: KeySection) -> Secret:
    """The key of a section that no variable gives: by command, from the keyring, else from the file."""
    if command := section.api_key_command:
        name = _program(command)
        return _late.setdefault(("command", command), LateSecret(lambda: run_command(command), f"the command {name}"))
    if entry := section.api_key_keyring:
        in_file = section.api_key
        found = LateSecret(lambda: from_keyring(entry, in_file), f"the system's keyring, entry {label(entry, 60)}")
        return _late.setdefault(("keyring", entry), found)
    return section.api_key


def fetched_keys() -> list[str]:
    """The keys that this process has fetched so far: for masking alone."""
    return [secret.reveal() for secret in tuple(_late.values()) if secret.is_fetched]


def run_command(command: str) -> str:
    """The first line that a command prints. No shell reads it. Raises `AuthenticationFailed` without its output."""
    import shlex

    name = _program(command)
    hint = "Run the api_key_command of config.toml by hand: it must print the key and nothing before it."
    try:
        code, output = _output(shlex.split(command))
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not written as a command"
        raise AuthenticationFailed(f"The key command {name} cannot be run: {reason}.", hint=hint) from None
    except subprocess.TimeoutExpired:
        raise AuthenticationFailed(
            f"The key command {name} did not end within {COMMAND_TIMEOUT:.0f} seconds.", hint=hint
        ) from None
    key = output.decode("utf-8", "replace").strip().partition("\n")[0].strip()
    if code:
        raise AuthenticationFailed(f"The key command {name} failed (exit code {code}).", hint=hint)
    if not key:
        raise AuthenticationFailed(f"The key command {name} printed nothing.", hint=hint)
    return key


def _output(argv: list[str]) -> tuple[int, bytes]:
    """Exit code and output of a program that has no terminal; all that it started ends when its time is up."""
    process = subprocess.Popen(  # noqa: S603  # nosec B603 - see run_command
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        output = process.communicate(timeout=COMMAND_TIMEOUT)[0]
    except BaseException:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.communicate()
        raise
    return process.returncode, output[:MAX_OUTPUT]


def from_keyring(entry: str, otherwise: Secret | None = None) -> str:
    """The key of an entry, else the key `otherwise`. Raises `AuthenticationFailed`."""
    try:
        key = _ask_keyring(lambda ring: ring.get_password(SERVICE, entry))
        if key:
            return str(key).strip()
        problem = AuthenticationFailed(
            f"The system's keyring has no entry {label(entry, 60)} of orca-tui.", hint="Put it there: orca-tui key set"
        )
    except AuthenticationFailed as error:
        problem = error
    if otherwise:
        return otherwise.reveal()
    raise problem


def put_into_keyring(entry: str, key: str) -> None:
    """Keep a key in the system's keyring. Raises `AuthenticationFailed`."""
    _ask_keyring(lambda ring: ring.set_password(SERVICE, entry, key))
    _late.pop(("keyring", entry), None)


def remove_from_keyring(entry: str) -> bool:
    """Take an entry out of the keyring; whether it was there. Raises `AuthenticationFailed`."""

    def remove(ring: Any) -> bool:
        if ring.get_password(SERVICE, entry) is None:
            return False
        ring.delete_password(SERVICE, entry)
        return True

    _late.pop(("keyring", entry), None)
    return _ask_keyring(remove)


def _ask_keyring(act: Callable[[Any], T]) -> T:
    """Do something with the keyring, in a thread that nobody waits for when it hangs."""
    result: list[T] = []
    problem: list[Exception] = []

    def ask() -> None:
        try:
            import keyring

            result.append(act(keyring))
        except Exception as error:  # noqa: BLE001 - backends raise whatever they like; told below
            problem.append(error)

    thread = threading.Thread(target=ask, name="keyring", daemon=True)
    thread.start()
    thread.join(KEYRING_TIMEOUT)
    if result:
        return result[0]
    if not problem:
        raise AuthenticationFailed(
            f"The system's keyring did not answer within {KEYRING_TIMEOUT:.0f} seconds.", hint="Is it unlocked?"
        )
    if isinstance(problem[0], ImportError):
        raise AuthenticationFailed("The package keyring is not installed.", hint=NO_KEYRING)
    if type(problem[0]).__name__ == "NoKeyringError":
        raise AuthenticationFailed("This machine has no keyring that orca-tui can use.", hint=NO_KEYRING)
    raise AuthenticationFailed(
        f"The system's keyring refused ({type(problem[0]).__name__}).", hint="Is it unlocked? " + NO_KEYRING
    )


def _program(command: str) -> str:
    """The name of the program alone: its arguments are nobody's business."""
    return label(PurePath(command.split()[0]).name, 40) if command.split() else "(empty)"
