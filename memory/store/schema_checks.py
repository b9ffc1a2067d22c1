"""Checksums of what a person wrote or was told: the columns that they cover, and the migration that adds them.

A new row has no checksum, and a changed one loses it; the store writes those that are missing before it commits.
"""

CHECKED: dict[str, tuple[str, ...]] = {
    "main_messages": ("id", "session_id", "role", "content", "timestamp", "parent_id"),
    "short_term_memories": ("id", "session_id", "content", "created_at"),
    "long_term_memories": ("id", "content", "memory_type", "source", "created_at"),
}
"""Table → the columns that its `checksum` covers. What is changed without a trace of the text is left out."""

CHECKSUMS = "".join(
    f"""
ALTER TABLE {table} ADD COLUMN checksum INTEGER;
CREATE INDEX {table}_without_checksum ON {table} (id) WHERE checksum IS NULL;
CREATE TRIGGER {table}_changed AFTER UPDATE OF {", ".join(columns)} ON {table} BEGIN
  UPDATE {table} SET checksum = NULL WHERE id = new.id;
END;
"""
    for table, columns in CHECKED.items()
)
