"""Tables about what upkeep proposes, as SQL; the rules of `memory.store.schema` hold."""

PROPOSALS = """
CREATE TABLE dismissed_proposals (
  what TEXT NOT NULL CHECK (what IN ('cold', 'duplicate')),
  items TEXT NOT NULL,
  dismissed_at TEXT NOT NULL,
  PRIMARY KEY (what, items)
) STRICT, WITHOUT ROWID;
"""
