"""What went wrong on the wire, told as one of `memory.errors`: a plain sentence, and what to do about it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from memory import errors
from memory.provider.endpoint import Endpoint
from memory.redaction import redact
from memory.text import label

MAX_WAIT = 60.0
"""Longest wait in seconds that a server is granted before a retry."""
MAX_DETAIL = 300

_TOO_LONG = re.compile(
    r"context[_ -]?(length|window|size)|maximum context|max_seq_len|prompt is too long|input is too long"
    r"|exceed_context|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model[_ ]?not[_ ]?found|model.{0,80}(not (found|exist|available)|unknown)|no such model|unknown model"
    r"|invalid model|模型不存在",
    re.IGNORECASE | re.DOTALL,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](quota|balance|credit)|quota[_ ]exceeded|exceeded your current quota|billing details|余额",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"\b(tools?|functions?)\b.{0,60}\b(not (supported|enabled|available|allowed|permitted)|unsupported)"
    r"|(\bnot|n't) support\w* .{0,20}\b(tool|function)|no endpoints found that support tool"
    r"|\btools?\b.{0,40} requires? --|unrecognized.{0,40}\btools\b|不支持.{0,10}(工具|函数|function|tool)",
    re.IGNORECASE | re.DOTALL,
)
_ONE_TOOL = re.compile(r"schema|parameter '|parameters?\.", re.IGNORECASE)
"""Words about what one tool takes, not about tools."""
_TLS = re.compile(r"\b(ssl|tls)", re.IGNORECASE)
_DNS = re.compile(r"name or service|getaddrinfo|nodename|name resolution|no address", re.IGNORECASE)
_REFUSED = re.compile(r"refused|all connection attempts failed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error to raise, and whether trying again may help."""

    error: errors.ProviderError
    again: bool = False
    wait: float | None = None
    """Seconds that the server asked for, at most `MAX_WAIT`."""
    reason: str = ""
    """A few words for the time of the wait."""
    status: int = 0
    detail: str = ""
    """The server's own words, cleaned; empty when it had none."""


def from_status(status: int, body: bytes | str, headers: Mapping[str, str], endpoint: Endpoint, model: str) -> Failure:
    """A response with a status of 300 or more."""
    code, words = _read_error(body)
    detail = tidy(words, endpoint)
    evidence = f"{code} {words}"
    host, said = endpoint.host, f": {detail}" if detail else "."
    hint = _request_id(headers)
    if status < 400:
        return _redirect(status, headers, endpoint)
    if status == 429:
        return _rate_limited(evidence, said, headers, endpoint)
    if status >= 500 or status in (408, 425):
        phrase = _phrase(status)
        error: errors.ProviderError = errors.ServerFailed(
            f"{host} failed ({status} {phrase}){said}", hint=_join("Try again in a while.", hint)
        )
        return Failure(error, True, wait_asked(headers), f"{host}: {status} {phrase}", status, detail)
    if status == 402 or _NO_MONEY.search(evidence):
        error = errors.RequestRefused(
            f"{host} refused the request ({status}){said}", hint="Look at the balance of your account there."
        )
    elif status in (401, 403):
        what = "refused the key" if endpoint.api_key else "wants a key"
        error = errors.AuthenticationFailed(f"{host} {what} ({status}){said}", hint=endpoint.key_hint)
    elif status in (400, 413, 422) and _TOO_LONG.search(evidence):
        error = errors.ContextTooLong(f"The prompt is too long for {label(model)}{said}", hint=_TOO_LONG_HINT)
    elif _NO_MODEL.search(evidence) and status in (400, 404, 422):
        error = errors.ModelNotFound(f"{host} has no model “{label(model)}”{said}", hint=_model_hint(endpoint, model))
    elif status == 404:
        error = errors.RequestRefused(
            f"{host} does not know the address it was asked at (404){said}",
            hint="Look at base_url: most servers want it to end in /v1.",
        )
    else:
        error = errors.RequestRefused(
            f"{host} refused the request ({status}){said}", hint=_join("Look at the model and its parameters.", hint)
        )
    return Failure(error, status=status, detail=detail)


def from_exception(error: BaseException, endpoint: Endpoint) -> Failure:
    """A request that got no response: what the HTTP library raised before the first byte."""
    import httpx2

    host, text = endpoint.host, f"{error} {error.__cause__ or ''}"
    if isinstance(error, (httpx2.UnsupportedProtocol, httpx2.InvalidURL)):
        return _unreachable(
            f"“{host}” is not an address that can be asked.", "base_url begins with https:// or http://."
        )
    if isinstance(error, httpx2.ProxyError):
        return _unreachable(f"The proxy on the way to {host} failed.", "Look at HTTPS_PROXY, ALL_PROXY and NO_PROXY.")
    if isinstance(error, httpx2.DecodingError):
        return Failure(errors.BadReply(f"The answer of {host} cannot be unpacked.", hint="Look at base_url."))
    if isinstance(error, httpx2.LocalProtocolError):
        return _unreachable(f"The request to {host} cannot be sent as it is.", endpoint.key_hint)
    if "certificate" in text.lower():
        return _unreachable(
            f"The certificate of {host} was not accepted.", "Look at the address and at this machine's clock."
        )
    if _TLS.search(text):
        return _unreachable(f"No secure connection to {host} can be made.", "Look at base_url: https:// or http://?")
    if isinstance(error, (httpx2.ConnectTimeout, httpx2.PoolTimeout)):
        return _unreachable(f"{host} did not accept a connection in time.", _OFFLINE, again=True)
    if _DNS.search(text):
        return _unreachable(f"The host {host} was not found.", _OFFLINE, again=True)
    if _REFUSED.search(text):
        hint = "Start the server, or look at base_url." if endpoint.is_loopback else _OFFLINE
        return _unreachable(f"Nothing answers at {host}: it refused the connection.", hint, again=True)
    return _unreachable(f"The connection to {host} broke.", _OFFLINE, again=True)


def in_stream(error: Any, endpoint: Endpoint, model: str) -> errors.ProviderError:
    """An error object inside a response that began as a success."""
    code, words = _find(error)
    detail, evidence = tidy(words, endpoint), f"{code} {words}"
    said = f": {detail}" if detail else "."
    if code == "429":
        return errors.RateLimited(f"{endpoint.host} is asked too often{said}", hint="Wait a little and try again.")
    if _TOO_LONG.search(evidence):
        return errors.ContextTooLong(f"The prompt is too long for {label(model)}{said}", hint=_TOO_LONG_HINT)
    if _NO_MODEL.search(evidence):
        return errors.ModelNotFound(
            f"{endpoint.host} has no model “{label(model)}”{said}", hint=_model_hint(endpoint, model)
        )
    return errors.ServerFailed(f"{endpoint.host} broke off with an error{said}", hint="Try again in a while.")


def check_key(endpoint: Endpoint) -> None:
    """Raise `AuthenticationFailed` when the key cannot even be sent."""
    try:
        endpoint.key()
    except ValueError:
        raise errors.AuthenticationFailed(
            f"The key for {endpoint.host} holds blanks or characters that no key has.", hint=endpoint.key_hint
        ) from None


def check_tools(failure: Failure, endpoint: Endpoint, model: str) -> None:
    """Raise `ToolsUnsupported` when a request that offered tools was refused because it did."""
    words = failure.detail
    if failure.status not in (400, 404, 422, 500, 501) or not _NO_TOOLS.search(words) or _ONE_TOOL.search(words):
        return
    raise errors.ToolsUnsupported(
        f"{label(model)} at {endpoint.host} cannot call tools: {words}",
        hint="Choose a model that can, or set tools.enabled = false.",
    )


def bad_proxy(endpoint: Endpoint) -> errors.ProviderUnavailable:
    """The environment names a proxy that cannot be used."""
    return errors.ProviderUnavailable(
        f"The proxy on the way to {endpoint.host} cannot be used.",
        hint="Look at HTTPS_PROXY, ALL_PROXY and NO_PROXY; a SOCKS proxy needs the package socksio.",
    )


def tidy(words: str, endpoint: Endpoint) -> str:
    """A server's words fit to be shown: one line, at most `MAX_DETAIL` characters, no key in it, no HTML page."""
    if words.lstrip()[:1] == "<":
        return ""
    key = endpoint.api_key.reveal().strip()
    return label(redact(words, (key,)), MAX_DETAIL)


def words_of(value: Any) -> str:
    """What an error object says, whatever its shape; empty when it says nothing. Not yet fit to be shown."""
    return _find(value)[1]


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` (or `retry-after-ms`) asks for, 0 to `MAX_WAIT`; `None` when it does not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _until(value, headers.get("date", "")) if value and unit == 1.0 else -1.0
        if seconds >= 0:
            return min(seconds, MAX_WAIT)
    return None


_TOO_LONG_HINT = "Start a new session, or set llm.context_window to what the server takes."
_OFFLINE = "Look at the network, the proxy and base_url."


def _until(date: str, now: str) -> float:
    """Seconds from the response's own date (else this machine's) to `date`; negative when it is none."""
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return -1.0
    try:
        start = parsedate_to_datetime(now)
    except ValueError:
        start = datetime.now(UTC)
    if then.tzinfo is None or start.tzinfo is None:
        return -1.0
    return max((then - start).total_seconds(), 0.0)


def _redirect(status: int, headers: Mapping[str, str], endpoint: Endpoint) -> Failure:
    target = label(tidy(headers.get("location", "").partition("?")[0], endpoint), 120)
    where = f" to {target}" if target else ""
    return Failure(
        errors.RequestRefused(
            f"{endpoint.host} sends the request on{where} ({status}); that is not followed: no key goes astray.",
            hint="If that is the right address, set it as base_url.",
        ),
        status=status,
    )


def _rate_limited(evidence: str, said: str, headers: Mapping[str, str], endpoint: Endpoint) -> Failure:
    if _NO_MONEY.search(evidence):
        hint = "Look at the quota and balance of your account there."
        return Failure(
            errors.RateLimited(f"The quota at {endpoint.host} is used up (429){said}", hint=hint), status=429
        )
    error = errors.RateLimited(
        f"{endpoint.host} is asked too often (429){said}", hint="Wait a little and try again, or use another model."
    )
    return Failure(error, True, wait_asked(headers), f"{endpoint.host} asks to wait (429)", 429)


def _unreachable(message: str, hint: str, *, again: bool = False) -> Failure:
    return Failure(errors.ProviderUnavailable(message, hint=hint), again, reason=message.rstrip("."))


def _model_hint(endpoint: Endpoint, model: str) -> str:
    return f"Get it with `ollama pull {label(model)}`." if endpoint.is_ollama else "Choose another model."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "server error"


def _request_id(headers: Mapping[str, str]) -> str:
    number = label(headers.get("x-request-id", ""), 64)
    return f"Request id: {number}." if number else ""


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _read_error(body: bytes | str) -> tuple[str, str]:
    """Code and words of an error body, whatever its shape."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        return _find(json.loads(text))
    except (ValueError, RecursionError):
        return "", text[: MAX_DETAIL * 4]


def _find(value: Any) -> tuple[str, str]:
    if isinstance(value, str):
        return "", value
    if isinstance(value, list):
        return "", "; ".join(words for item in value[:5] if (words := _find(item)[1]))
    if not isinstance(value, dict):
        return "", ""
    code = next((str(value[name]) for name in ("code", "type", "status") if value.get(name)), "")
    for name in ("error", "message", "detail", "msg", "errors"):
        if value.get(name):
            inner_code, words = _find(value[name])
            return inner_code or code, words
    return code, ""
