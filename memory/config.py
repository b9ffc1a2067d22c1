"""Typed settings: frozen values with defaults, and where the files lie.

The fields *are* the schema: `memory.settings` reads `config.toml` into them and checks every key by their types and
the limits in the field metadata. Changing a default or adding a key is done here and nowhere else.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

HOME_VARIABLE = "ORCA_HOME"

ProviderKind = Literal["auto", "openai", "siliconflow", "ollama", "local", "demo"]
EmbeddingKind = Literal["auto", "local", "siliconflow", "openai", "off"]
Language = Literal["auto", "en", "zh"]
NotificationKind = Literal["auto", "bell", "osc9", "desktop", "off"]


def limits(default: Any, low: float, high: float) -> Any:
    """A field with a default and the range that is allowed, both ends included."""
    return field(default=default, metadata={"low": low, "high": high})


class Secret:
    """A key that never shows itself: `repr` and `str` are masked, it cannot be pickled; `reveal()` at the wire only."""

    __slots__ = ("_value", "origin")

    def __init__(self, value: str, origin: str = "config.toml") -> None:
        self._value = value
        self.origin = origin
        """Where it came from, for a person; never the value."""

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret('…')" if self else "Secret('')"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret is not to be pickled")


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """`[llm]`: which model answers."""

    provider: ProviderKind = "auto"
    """`auto`: the first that is there of base_url, SiliconFlow key, OpenAI key, Ollama, local model, demo."""
    base_url: str = ""
    model: str = ""
    """Empty: the provider's default."""
    api_key: Secret = field(default_factory=lambda: Secret(""))
    api_key_env: str = ""
    """Name of an environment variable that holds the key; wins over what follows."""
    api_key_command: str = ""
    """A program that prints the key, with its arguments; run without a shell. Wins over the keyring and `api_key`."""
    api_key_keyring: str = ""
    """Name of the entry in the system's keyring that holds the key; wins over `api_key`."""
    context_window: int = limits(0, 0, 10_000_000)
    """Tokens; 0 asks the server, and estimates when it does not say."""
    max_tokens: int = limits(0, 0, 1_000_000)
    """Longest reply in tokens; 0 leaves it to the server."""
    temperature: float | None = limits(None, 0.0, 2.0)
    system_prompt: str = ""
    connect_timeout: float = limits(5.0, 0.1, 600.0)
    """Seconds."""
    first_byte_timeout: float = limits(60.0, 0.1, 3600.0)
    """Seconds until the first part of a reply."""
    idle_timeout: float = limits(60.0, 0.1, 3600.0)
    """Seconds of silence inside a stream."""
    max_retries: int = limits(3, 0, 10)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """`[llm.parameters]`: sent along as they are."""


@dataclass(frozen=True, slots=True)
class SiliconFlowSettings:
    """`[siliconflow]`: key, address and models of the SiliconFlow preset."""

    api_key: Secret = field(default_factory=lambda: Secret(""))
    api_key_command: str = ""
    api_key_keyring: str = ""
    base_url: str = "https://api.siliconflow.cn/v1"
    model: str = "Qwen/Qwen3-8B"
    embedding_model: str = "Pro/BAAI/bge-m3"
    dimensions: int = limits(1024, 1, 8192)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """`[embedding]`: what turns text into vectors."""

    provider: EmbeddingKind = "auto"
    """`auto`: SiliconFlow when its key is there, else the built-in embedder."""
    base_url: str = ""
    model: str = ""
    api_key: Secret = field(default_factory=lambda: Secret(""))
    api_key_env: str = ""
    api_key_command: str = ""
    api_key_keyring: str = ""
    dimensions: int = limits(0, 0, 8192)
    """Width of the vectors; 0: as the model makes them."""
    batch_size: int = limits(5, 1, 256)
    batch_wait: float = limits(0.5, 0.0, 60.0)
    """Seconds to wait for a fuller batch."""
    timeout: float = limits(20.0, 0.1, 600.0)
    """Seconds for one request."""


@dataclass(frozen=True, slots=True)
class BranchSettings:
    """`[memory.branches.NAME]`: one data branch. The first that matches takes a memory: new ones, then the built-in."""

    searched: bool = True
    """Whether recall looks into it by default."""
    lifetime_days: int = limits(30, 0, 36_500)
    """0: for ever."""
    types: tuple[str, ...] = ()
    """Memory types that it takes; empty: any."""
    sources: tuple[str, ...] = ()
    """Sources that it takes; empty: any."""
    fact_longer_than: int = limits(0, 0, 1_000_000)
    """Takes facts only when they are longer than this many characters; other types whatever their length."""


def default_branches() -> dict[str, BranchSettings]:
    """The five branches that every store starts with."""
    return {
        "user_preference": BranchSettings(True, 365, ("preference", "constraint")),
        "long_term_knowledge": BranchSettings(True, 365, ("fact", "decision", "project", "skill"), fact_longer_than=50),
        "short_term_fact": BranchSettings(True, 30, ("fact",)),
        "task_event": BranchSettings(True, 30, ("event",)),
        "general_memory": BranchSettings(False, 30),
    }


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """`[memory]`: budget, recall and upkeep."""

    enabled: bool = True
    budget_share: float = limits(0.6, 0.05, 0.95)
    """Share of the context window that memory may use."""
    working_share: float = limits(0.5, 0.0, 1.0)
    short_term_share: float = limits(0.3, 0.0, 1.0)
    long_term_share: float = limits(0.2, 0.0, 1.0)
    """The three shares of the budget; together at most 1."""
    short_term_top_k: int = limits(3, 0, 20)
    long_term_top_k: int = limits(5, 1, 20)
    short_term_keep: int = limits(10, 1, 1000)
    extract_every: int = limits(20, 1, 1000)
    """Turns between two extractions into long-term memory."""
    near_duplicate: float = limits(0.8, 0.5, 1.0)
    """Text similarity from which two memories count as one, polarity, numbers and names being equal."""
    backups: int = limits(5, 0, 1000)
    """Backups that are kept; one is made on each day that something changed. 0: none."""
    user_id: str = "default"
    project: str = ""
    branches: Mapping[str, BranchSettings] = field(default_factory=default_branches)


@dataclass(frozen=True, slots=True)
class PersonaSettings:
    """`[personas.NAME]`: a way to answer that a session can be given."""

    prompt: str = ""
    model: str = ""
    """Empty: the model of `[llm]`."""
    temperature: float | None = limits(None, 0.0, 2.0)
    max_tokens: int = limits(0, 0, 1_000_000)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """`[agents.NAME]`: a subagent. Those that orca ships can be changed by their name."""

    description: str = ""
    """One line for the model that may call it."""
    prompt: str = ""
    model: str = ""
    """Empty: the model of `[llm]`."""
    temperature: float | None = limits(None, 0.0, 2.0)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Sent along as they are."""
    tools: tuple[str, ...] = ()
    """Names of the tools that it may call; `agent_call` lets it call other agents."""
    max_tokens: int = limits(50_000, 100, 10_000_000)
    """Tokens that one run may use, prompts and replies of all its requests."""
    max_seconds: float = limits(300.0, 1.0, 86_400.0)
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """`[tools]`: what the model may call. Each call that changes or reaches anything outside orca asks first."""

    enabled: bool = True
    roots: tuple[str, ...] = ()
    """Directories that `read_file` and `list_dir` may look into; empty: those two are off."""
    fetch_url: bool = False
    max_rounds: int = limits(12, 1, 100)
    """Requests in one turn, the first included."""
    timeout: float = limits(60.0, 1.0, 3600.0)
    """Seconds for one call."""
    max_result_tokens: int = limits(4_000, 100, 1_000_000)
    """A longer result is cut, and says so."""
    allow: tuple[str, ...] = ()
    """What was allowed for always, as the dialog wrote it: `tool` or `tool:target`."""


@dataclass(frozen=True, slots=True)
class MCPSettings:
    """`[mcp.NAME]`: an MCP server; `command` (stdio) or `url` (streamable HTTP)."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Further variables of the server's process; `$NAME` takes the value from orca's environment."""
    url: str = ""
    headers_env: Mapping[str, str] = field(default_factory=dict)
    """Header → name of the environment variable that holds its value."""
    enabled: bool = True
    timeout: float = limits(30.0, 1.0, 3600.0)
    """Seconds for one call, and for the start."""


@dataclass(frozen=True, slots=True)
class UISettings:
    """`[ui]`: the screen."""

    theme: str = "orca-dark"
    language: Language = "auto"
    sidebar: bool = True
    sessions: bool = True
    cursor_blink: bool = False
    notifications: NotificationKind = "auto"
    """How a long reply that ends out of focus is told; `auto`: `osc9` where the terminal knows it, `bell` elsewhere."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that `config.toml` and the environment say."""

    llm: LLMSettings = field(default_factory=LLMSettings)
    siliconflow: SiliconFlowSettings = field(default_factory=SiliconFlowSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    ui: UISettings = field(default_factory=UISettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    personas: Mapping[str, PersonaSettings] = field(default_factory=dict)
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    mcp: Mapping[str, MCPSettings] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    """`[keys]`: binding id → keys, comma separated."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where orca keeps its files. Creating them is the caller's act (`ensure`)."""

    root: Path

    @classmethod
    def find(cls, given: str | Path | None = None, env: Mapping[str, str] | None = None) -> "Home":
        """`given`, else `$ORCA_HOME`, else `~/.orca`."""
        env = os.environ if env is None else env
        chosen = given or env.get(HOME_VARIABLE) or "~/.orca"
        return cls(Path(chosen).expanduser().absolute())

    @property
    def config(self) -> Path:
        """The settings file."""
        return self.root / "config.toml"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / "memory.db"

    @property
    def models(self) -> Path:
        """Where model files lie."""
        return self.root / "models"

    @property
    def themes(self) -> Path:
        """The user's own themes."""
        return self.root / "themes"

    @property
    def attachments(self) -> Path:
        """Where pictures lie that went with messages."""
        return self.root / "attachments"

    @property
    def log(self) -> Path:
        """The log file."""
        return self.root / "orca.log"

    def ensure(self) -> None:
        """Create the directory, readable by its owner only. Raises `OSError`."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
