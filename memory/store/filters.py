"""Which items a search may find: one set of conditions for the text index and the vector index alike."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.store.rows import TABLES
from memory.types import ItemKind, MemoryStatus, Role, Scope

Parameters = list[str | int | float | None]


@dataclass(frozen=True, slots=True)
class Only:
    """What a search may be narrowed to beside its other filters; `None` means: any."""

    roles: tuple[Role, ...] | None = None
    """Whose messages; other kinds have no role and are not narrowed by it."""
    since: str | None = None
    """The earliest time of a message, or of the last change of a summary or memory."""
    until: str | None = None
    """The first time that is too late."""

    def conditions(self, kind: ItemKind) -> tuple[list[str], Parameters]:
        """On columns of `item`."""
        time = "item.timestamp" if kind == "message" else "item.updated_at"
        found: list[str] = []
        values: Parameters = []
        if self.roles is not None and kind == "message":
            found.append(one_of("item.role"))
            values.append(json.dumps(list(self.roles)))
        for condition, edge in ((f"{time} >= ?", self.since), (f"{time} < ?", self.until)):
            if edge is not None:
                found.append(condition)
                values.append(edge)
        return found, values

    def passes(self, time: str, role: Role | None = None) -> bool:
        """The same for a value; `role` is that of a message."""
        return (
            (role is None or self.roles is None or role in self.roles)
            and (self.since is None or time >= self.since)
            and (self.until is None or time < self.until)
        )


ANYTHING = Only()


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions of `Store.search_text` and `Store.search_vector`; `None` means: any."""

    session_id: str | None = None
    exclude_session: str | None = None
    scope: Scope | None = None
    branches: Sequence[str] | None = None
    status: Sequence[MemoryStatus] | None = ("active",)
    only: Only = ANYTHING

    def source(self, kind: ItemKind) -> tuple[str, str, Parameters]:
        """The tables to read (the item's is called `item`), the condition on them, and its values in order."""
        tables = f"{TABLES[kind]} AS item"
        if kind != "long_term":
            tables += " JOIN sessions AS session ON session.id = item.session_id"
        condition, values = self.condition(kind)
        more, more_values = self.only.conditions(kind)
        return tables, " AND ".join([condition, *more]), [*values, *more_values]

    def condition(self, kind: ItemKind) -> tuple[str, Parameters]:
        """The condition without `only`: on columns of `item` for long-term memories, else on those of its `session`."""
        conditions, values = self._on_memory() if kind == "long_term" else self._on_session()
        return " AND ".join(["1", *conditions]), values

    def _on_session(self) -> tuple[list[str], Parameters]:
        """Messages and summaries: they have the scope of their session."""
        conditions, values = scope_conditions(self.scope, "session", team=False)
        if self.session_id is None:
            conditions.append("session.incognito = 0 AND session.trashed_at IS NULL")
        else:
            conditions.append("session.id = ?")
            values.append(self.session_id)
        if self.exclude_session is not None:
            conditions.append("session.id <> ?")
            values.append(self.exclude_session)
        return conditions, values

    def _on_memory(self) -> tuple[list[str], Parameters]:
        conditions, values = scope_conditions(self.scope, "item")
        for column, allowed in (("branch", self.branches), ("status", self.status)):
            if allowed is not None:
                conditions.append(one_of(f"item.{column}"))
                values.append(json.dumps(list(allowed)))
        return conditions, values


def scope_conditions(scope: Scope | None, table: str, *, team: bool = True) -> tuple[list[str], Parameters]:
    """A scope sees its user's own, and of that what is tied to no project, agent or team, or to the same."""
    if scope is None:
        return [], []
    conditions = [f"{table}.user_id = ?"]
    values: Parameters = [scope.user_id]
    ties = {"project": scope.project, "agent_id": scope.agent_id} | ({"team_id": scope.team_id} if team else {})
    for column, value in ties.items():
        conditions.append(f"({table}.{column} IS NULL OR {table}.{column} = ?)")
        values.append(value)
    return conditions, values


def one_of(column: str) -> str:
    """The condition that a column is in a list, which is bound as one JSON array."""
    return f"{column} IN (SELECT value FROM json_each(?))"
