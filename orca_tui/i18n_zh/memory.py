"""The memory screens beyond the first list: cold list, rollback, scope, pictures."""

TEXTS: dict[str, str] = {}
