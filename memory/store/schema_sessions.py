"""Tables and columns about the list of sessions, as SQL; the rules of `memory.store.schema` hold."""

# What a title is from is not known of sessions from before: they keep what they have. A session that is trashed
# keeps its state, which says whether it is archived.
SESSION_LIST = """
ALTER TABLE sessions ADD COLUMN title_by TEXT NOT NULL DEFAULT 'words' CHECK (title_by IN ('words', 'model', 'user'));
ALTER TABLE sessions ADD COLUMN trashed_at TEXT;
UPDATE sessions SET title_by = 'user' WHERE title <> '';
"""
