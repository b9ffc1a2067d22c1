"""Where a request goes: address, model and key of one server, and how to talk about it."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from memory.config import Secret
from memory.text import label

LOOPBACK = ("127.0.0.1", "::1", "localhost")
OPENAI_HOST = "api.openai.com"
OLLAMA_PORT = 11434


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One OpenAI-compatible server. `base_url` loses `/chat/completions`, `/embeddings` and slashes at its end."""

    base_url: str
    api_key: Secret = field(default_factory=lambda: Secret(""))
    key_hint: str = "Set api_key or api_key_env in config.toml."
    """What the user does when the key is missing or refused."""

    def __post_init__(self) -> None:
        address = self.base_url.strip().rstrip("/")
        for path in ("/chat/completions", "/embeddings"):
            address = address.removesuffix(path).rstrip("/")
        object.__setattr__(self, "base_url", address)

    @property
    def host(self) -> str:
        """Host, with the port when one is written: for messages; never user name, password or query."""
        return label(_host_and_port(self.base_url), 80) or "the server"

    @property
    def hostname(self) -> str:
        """The bare host in lower case; empty when the address is none."""
        try:
            return (urlsplit(self.base_url).hostname or "").lower()
        except ValueError:
            return ""

    @property
    def port(self) -> int:
        """The port that is written in the address; 0 when none is."""
        try:
            return urlsplit(self.base_url).port or 0
        except ValueError:
            return 0

    @property
    def root(self) -> str:
        """The address without its path: where native interfaces of local servers lie."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, "", "", ""))

    @property
    def is_loopback(self) -> bool:
        """Whether the server runs on this machine."""
        return self.hostname in LOOPBACK

    @property
    def is_ollama(self) -> bool:
        """Whether it sits on Ollama's usual port."""
        return self.port == OLLAMA_PORT

    def key(self) -> str:
        """The key as it goes into a header; empty when there is none.

        Raises `ValueError` (without the key) when it holds what no header may hold.
        """
        key = self.api_key.reveal().strip()
        if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
            raise ValueError("the key holds characters that no key has")
        return key


def _host_and_port(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2]
