"""Which words are the user's own. Only these become memory at once; all else waits for the user's review.

Trust comes from the channel, not from what a text says: the role of the message, and which parts of it were pasted or
piped in. What looks like foreign text in a message without such marks only ever lowers trust.
"""

import re
import unicodedata
from collections.abc import Iterable

from memory.store.run_store import AGENT_RUN
from memory.types import Message
from memory.writing.extract_patterns import TASK
from memory.writing.worth import looks_pasted, typed_part

PASTED = "pasted"
"""Key in the metadata of a message: `[start, end]` of every part that was not typed."""
ATTACHMENTS = "attachments"
"""Key in the metadata of a message by the user: the files that went with it."""
TAINTED = "tainted"
"""Key in the metadata of a reply: foreign text was in what it answers, so it may say what no one here did."""

_LINK = re.compile(r"\b(?:https?|ftp|file)://|\bwww\.|!\[[^\]]*\]\(|^\s*\[[^\]]+\]:\s*\S", re.IGNORECASE | re.MULTILINE)
_HOST = re.compile(
    r"(?<![@\w.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+"
    r"(?:com|net|org|io|dev|app|ai|co|cn|ru|me|info|biz|xyz|site|online|top|shop|link|invalid|example|test|onion)\b(?!@)",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^\s*(?:system|assistant|user|developer|human|ai|tool|系统|用户|助手|开发者)\s*[:：]"
    r"|\[/?INST\]|<</?SYS>>|<\|[a-z_]+\|>|</?(?:system|instructions|assistant|tool_result)\b",
    re.IGNORECASE | re.MULTILINE,
)
_INTRODUCED = re.compile(
    r"\b(?:this|the|here(?:'s| is| are)(?: the| a| an| my)?|following|below)\b[^\n]{0,60}"
    r"\b(?:page|website|article|document|doc|file|e-?mail|message|output|log|report|text|transcript|readme|result)s?\b"
    r"[^\n]{0,40}[:：]\s*\n"
    r"|(?:这是|以下是?|下面是?|如下)[^\n]{0,40}(?:网页|页面|文章|文档|文件|邮件|输出|日志|报告|内容|文本|结果)[^\n]{0,20}[:：]",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r"\A(?!.*\b(?:my|i|me)\b)(?!.*我)[^\n]{3,80}[:：]\s*\n+\s*\S"
    r"|\b(?:i (?:found|saw|read|got|received)|it|he|she|they|page|site|website|article|doc(?:ument)?|file|e-?mail|tool"
    r"|output|log|report|bot|model|assistant|agent|readme)(?:'s output)? ?"
    r"(?:says|said|reads|wrote|writes|shows|returned|returns|printed|answered|told me|this|that)\s*[:：]"
    r"|(?:网页|页面|文章|文档|文件|邮件|工具|输出|日志|报告|助手|模型|他|她)(?:上|里|中)?(?:说|写道?|显示|返回|回答)(?:了|着)?\s*[:：]",
    re.IGNORECASE,
)
"""Words that bring in what somebody else said."""
_GUARD = re.compile(
    r"\b(?:without|skip(?:s|ped|ping)?|no|off|disable[sd]?|bypass|ignore|need(?:s)? no|not need|never) (?:\w+ ){0,3}"
    r"(?:ask(?:ing)?|confirm(?:ation)?s?|approv(?:al|e)s?|permissions?|reviews?|checks?|prompts?|rules?|verify|warnings?)\b"
    r"|\b(?:confirmations?|approvals?|permissions?|permission prompts|reviews?|checks|warnings) (?:\w+ ){0,4}"
    r"(?:off|skipped|optional|disabled|yes|granted|not needed)\b|--no-verify|\b(?:auto-?)?approve (?:all|every)"
    r"|\bmemory_(?:search|save)\b|\brole: ?system\b"
    r"|(?:不必|不用|无需|不再需要|不需要|跳过|关闭|免)(?:再)?(?:询?问|确认|审批|批准|检查|审核|授权|提示)|直接执行|管理员权限",
    re.IGNORECASE,
)
_THIRD_PERSON = re.compile(
    r"\b(?:the |this )?(?:user|owner|operator|reviewer|account holder|human)(?:'s)?(?: of \w+(?: \w+)?)?"
    r" (?:prefers?|wants?|likes?|has|is|asked|asks|authori[sz]ed|approved|allows?|profile|preference)\b"
    r"|(?:用户|主人|机主)(?:的?(?:偏好|习惯|要求|资料)|已经?|希望|要求|授权|允许|喜欢|同意)"
    r"|\byou (?:asked|told) me\b|\bas i (?:noted|said|mentioned) before\b|你(?:让|叫|要求)我",
    re.IGNORECASE,
)
_KEPT = "\u200c\u200d\ufe0e\ufe0f"
_MIXED = re.compile(r"[^\W\d_]+")


def typed_text(message: Message) -> str:
    """What of a message by the user was typed: without pasted parts, code fences and quotations."""
    text = message.content
    for start, end in sorted(_spans(message), reverse=True):
        text = f"{text[:start]}\n{text[end:]}"
    return typed_part(text)


def is_foreign(message: Message) -> bool:
    """Whether a message holds text that nobody typed here: a tool's result, a file, what was pasted, what an agent
    said, or what was made of such."""
    facts = message.metadata
    if message.role == "tool":
        return facts.get("foreign") is not False
    return any(facts.get(mark) for mark in (PASTED, ATTACHMENTS, TAINTED, AGENT_RUN))


def mark_pasted(text: str, pasted: Iterable[str]) -> list[list[int]]:
    """Where each of the pasted pieces stands in a text, for the message's metadata; what is not there is left out."""
    spans: list[list[int]] = []
    for piece in pasted:
        start = text.find(piece) if piece else -1
        while start >= 0 and any(start < end and begin < start + len(piece) for begin, end in spans):
            start = text.find(piece, start + 1)
        if start >= 0:
            spans.append([start, start + len(piece)])
    return sorted(spans)


def why_review(message: Message, content: str) -> str:
    """Why a memory that was taken from `message` must wait for review; empty when the user typed it."""
    if message.role != "user":
        return f"it comes from {'a tool' if message.role == 'tool' else message.role}"
    if looks_pasted(message.content):
        return "the message is too long to have been typed"
    if content.strip() not in typed_text(message) and any(
        _overlap(content, message.content[start:end]) for start, end in _spans(message)
    ):
        return "it stands in a pasted part"
    if _has_hidden(message.content):
        return "the message holds hidden characters"
    if _ROLE.search(message.content):
        return "the message holds role marks"
    brought = (_INTRODUCED, _QUOTES, TASK)
    if any(pattern.search(message.content) for pattern in brought):
        return "the message brings a text to work on"
    if _LINK.search(message.content) or _HOST.search(content):
        return "it holds a link"
    if _THIRD_PERSON.search(content):
        return "it speaks about the user as of somebody else"
    if _GUARD.search(content):
        return "it would let something pass without asking"
    return "it mixes scripts in a word" if _mixes_scripts(content) else ""


def _spans(message: Message) -> list[tuple[int, int]]:
    marked = message.metadata.get(PASTED)
    length = len(message.content)
    spans = marked if isinstance(marked, list) else []
    return [
        (max(0, span[0]), min(length, span[1]))
        for span in spans
        if isinstance(span, list) and len(span) == 2 and all(isinstance(edge, int) for edge in span)
    ]


def _overlap(content: str, part: str) -> bool:
    folded = re.sub(r"\W+", " ", part.casefold())
    return re.sub(r"\W+", " ", content.casefold()).strip() in folded


def _has_hidden(text: str) -> bool:
    """Tag characters, zero-width and bidi marks: nobody types these. Joiners and emoji selectors are fine."""
    return not text.isascii() and any(
        ch not in _KEPT and (unicodedata.category(ch) in ("Cf", "Co", "Cn") or 0xE0100 <= ord(ch) <= 0xE01EF)
        for ch in text
    )


def _mixes_scripts(text: str) -> bool:
    """Latin beside Cyrillic or Greek letters in one word: they look alike, and no keyboard types them together."""
    if text.isascii():
        return False
    for word in _MIXED.findall(text):
        scripts = {unicodedata.name(ch, "").split(" ")[0] for ch in word}
        if len(scripts & {"LATIN", "CYRILLIC", "GREEK"}) > 1:
            return True
    return False
