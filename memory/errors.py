"""Every error that orca raises on purpose: one base, named leaves.

Each carries two sentences for a person: `str(error)` says what happened, `hint` says what to do next.
Neither ever holds a secret. Nothing in this package reports a failure as `None` or `False`.
"""


class OrcaError(Exception):
    """Base of all errors that orca raises on purpose."""

    title = "Something went wrong"
    """A few words for a heading; constant per class, never foreign text."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        """What the user can do about it; empty when the message already says so."""


class ConfigError(OrcaError):
    """The configuration cannot be used. The message names file, line and key, never a secret's value."""

    title = "Configuration"


class StoreError(OrcaError):
    """The store could not do what was asked; nothing was half written."""

    title = "Storage"


class StoreOpenError(StoreError):
    """The database cannot be opened (damaged, newer schema, no permission, a foreign file)."""


class StoreDamaged(StoreOpenError):
    """The database is damaged; `memory.store.salvage` saves what can be read of it."""


class StoreFullError(StoreError):
    """The disk or quota is full; what was to be written is still in the caller's hands."""


class StoreBusyError(StoreError):
    """Another process held the database longer than the busy time-out."""


class NotFoundError(StoreError):
    """No session, message or memory has this id."""


class InvalidVectorError(OrcaError):
    """A vector has the wrong width, a value that is not finite, or length zero; it was not stored."""

    title = "Embedding"


class ProviderError(OrcaError):
    """A model server could not answer. Leaves say why; the partial reply, if any, is kept by the engine."""

    title = "Model"


class ProviderUnavailable(ProviderError):
    """The host cannot be reached (DNS, refused connection, TLS, proxy)."""


class ProviderTimeout(ProviderError):
    """No first byte, or a stream that went silent."""


class AuthenticationFailed(ProviderError):
    """The server refused the key (401 or 403)."""


class RateLimited(ProviderError):
    """The server said 429 and the waits it asked for did not help."""


class ModelNotFound(ProviderError):
    """The server or this machine does not have the model."""


class ContextTooLong(ProviderError):
    """The prompt does not fit the served context window."""


class RequestRefused(ProviderError):
    """The server refused the request for another reason (400, 404, 413, 422)."""


class ServerFailed(ProviderError):
    """The server failed (5xx), or sent an error inside the stream."""


class BadReply(ProviderError):
    """The answer is not what the protocol says: HTML, broken JSON, an empty stream."""


class StreamCut(ProviderError):
    """The stream ended without a finish reason; what had arrived is kept."""


class ToolsNotOffered(ProviderError):
    """The model asked for a tool and said nothing else; no tool was offered to it."""


class ToolsUnsupported(ProviderError):
    """The model, or its server, cannot call tools."""


class LocalModelMissing(ProviderError):
    """The built-in model or its runtime is not installed here."""


class TurnInProgress(OrcaError):
    """This session has a reply on the way; only one at a time."""

    title = "Still answering"


class EmbeddingFailed(OrcaError):
    """The embedder could not embed; the items stay in the queue."""

    title = "Embedding"

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        """Seconds that the server asked to wait; `None` when it did not say."""


class ModelFileError(OrcaError):
    """A model file could not be fetched, verified or read."""

    title = "Model file"


class ToolFailed(OrcaError):
    """A tool could not do what the model asked for; the model is told, and may try another way."""

    title = "Tool"


class SecretRefused(OrcaError):
    """What was to be remembered seems to hold a key or a password."""

    title = "Memory"


class ToolRefused(ToolFailed):
    """The user, a setting or the turn's taint did not allow the call."""


class MCPError(ToolFailed):
    """An MCP server could not be started, broke off, hung, or said what the protocol does not know."""

    title = "MCP server"


class BackupError(StoreError):
    """A backup could not be made, verified or restored."""


class ImportRefused(OrcaError):
    """A file of another program is not what it should be; nothing was imported."""

    title = "Import"


class AttachmentError(OrcaError):
    """A file cannot go with a message: unreadable, too large, of no known kind, or the model cannot see."""

    title = "Attachment"
