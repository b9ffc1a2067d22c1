"""The tables of subagents, as SQL. A constant that has been released is never edited."""

# A CHECK cannot be changed in place: the table is made anew. `owner` tells who writes a run that is on its way.
RUNS = """
ALTER TABLE subagent_messages RENAME TO subagent_messages_before;
CREATE TABLE subagent_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  parent_msg_id INTEGER NOT NULL REFERENCES main_messages (id) ON DELETE CASCADE,
  parent_run_id INTEGER REFERENCES subagent_messages (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('assistant', 'system')),
  content TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  task TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'complete' CHECK (state IN ('running', 'complete', 'stopped', 'failed')),
  token_count INTEGER NOT NULL DEFAULT 0 CHECK (token_count >= 0),
  subtree_tokens INTEGER NOT NULL DEFAULT 0 CHECK (subtree_tokens >= 0),
  truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
  started_at TEXT NOT NULL,
  ended_at TEXT,
  owner TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(owner))
) STRICT;
INSERT INTO subagent_messages (
  id, parent_msg_id, session_id, agent_name, role, content, timestamp, task, state, token_count, subtree_tokens,
  truncated, started_at, ended_at
) SELECT
  id, parent_msg_id, session_id, agent_name, role, content, timestamp, task, state, token_count, token_count,
  truncated, coalesce(started_at, timestamp), coalesce(ended_at, timestamp)
FROM subagent_messages_before;
DROP TABLE subagent_messages_before;
CREATE INDEX subagent_messages_by_parent ON subagent_messages (parent_msg_id);
CREATE INDEX subagent_messages_by_session ON subagent_messages (session_id);
CREATE INDEX subagent_messages_by_caller ON subagent_messages (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX subagent_messages_running ON subagent_messages (id) WHERE state = 'running';
"""
