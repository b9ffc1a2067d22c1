"""Which data branch a long-term memory belongs to, and how long it lives. The only place that decides it.

The rules are `[memory.branches.NAME]` of the settings, in the order of the file: the first that matches takes it.
"""

from collections.abc import Mapping
from datetime import timedelta

from memory.clock import from_iso, to_iso
from memory.config import BranchSettings
from memory.types import MemorySource, MemoryType

GENERAL = "general_memory"
"""Takes what no rule matches."""


def route_branch(
    source: MemorySource, memory_type: MemoryType, content: str, rules: Mapping[str, BranchSettings]
) -> str:
    """The branch for a new memory."""
    return next((name for name, rule in rules.items() if _takes(rule, source, memory_type, content)), GENERAL)


def _takes(rule: BranchSettings, source: MemorySource, memory_type: MemoryType, content: str) -> bool:
    if rule.types and memory_type not in rule.types:
        return False
    if rule.sources and source not in rule.sources:
        return False
    too_short = memory_type == "fact" and rule.fact_longer_than and len(content.strip()) <= rule.fact_longer_than
    return not too_short


def expiry(branch: str, rules: Mapping[str, BranchSettings], now: str) -> str | None:
    """When a memory that is written at `now` expires; `None`: never. An unknown branch lives as long as any does."""
    rule = rules.get(branch)
    days = rule.lifetime_days if rule else BranchSettings().lifetime_days
    return to_iso(from_iso(now) + timedelta(days=days)) if days else None


def searched_branches(rules: Mapping[str, BranchSettings]) -> tuple[str, ...]:
    """The branches that recall looks into by default."""
    return tuple(name for name, rule in rules.items() if rule.searched)
