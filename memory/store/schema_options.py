"""What sessions choose for themselves, as SQL; the rules of `memory.store.schema` hold."""

SESSION_OPTIONS = """
ALTER TABLE sessions ADD COLUMN options TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(options));
"""
