"""The tables, as SQL. One constant a migration; a constant that has been released is never edited.

Times are UTC ISO-8601 text, truth values 0 or 1, free facts JSON text. `fts_*` and `vec_*` hold the id of the row they
index and nothing that could not be made again from it.
"""

CONVERSATIONS = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  user_id TEXT NOT NULL,
  project TEXT,
  agent_id TEXT,
  model TEXT,
  tip_message_id INTEGER,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'archived')),
  incognito INTEGER NOT NULL DEFAULT 0 CHECK (incognito IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_change ON sessions (updated_at DESC, id DESC) WHERE tip_message_id IS NOT NULL;

CREATE TABLE main_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
  content TEXT NOT NULL,
  msg_type TEXT NOT NULL DEFAULT 'normal'
    CHECK (msg_type IN ('normal', 'fact', 'todo', 'decision', 'preference', 'error')),
  token_count INTEGER NOT NULL DEFAULT 0 CHECK (token_count >= 0),
  has_embedding INTEGER NOT NULL DEFAULT 0 CHECK (has_embedding IN (0, 1)),
  timestamp TEXT NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
  parent_id INTEGER REFERENCES main_messages (id),
  state TEXT NOT NULL DEFAULT 'complete' CHECK (state IN ('complete', 'streaming', 'stopped', 'failed'))
) STRICT;
CREATE INDEX main_messages_by_session ON main_messages (session_id, timestamp DESC);
CREATE INDEX main_messages_by_role ON main_messages (role) WHERE role IN ('user', 'assistant');
CREATE INDEX main_messages_by_parent ON main_messages (parent_id);
CREATE INDEX main_messages_streaming ON main_messages (id) WHERE state = 'streaming';
CREATE INDEX main_messages_to_embed ON main_messages (id)
  WHERE has_embedding = 0 AND state <> 'streaming' AND role IN ('user', 'assistant')
    AND (length(content) >= 10 OR octet_length(content) >= 15);

CREATE TABLE subagent_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  parent_msg_id INTEGER NOT NULL REFERENCES main_messages (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('assistant', 'system')),
  content TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  task TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'complete' CHECK (state IN ('complete', 'stopped', 'failed')),
  token_count INTEGER NOT NULL DEFAULT 0 CHECK (token_count >= 0),
  truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
  started_at TEXT,
  ended_at TEXT
) STRICT;
CREATE INDEX subagent_messages_by_parent ON subagent_messages (parent_msg_id);
CREATE INDEX subagent_messages_by_session ON subagent_messages (session_id);
"""

MEMORIES = """
CREATE TABLE short_term_memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  source_count INTEGER NOT NULL CHECK (source_count >= 1),
  confidence REAL NOT NULL DEFAULT 0.8 CHECK (confidence BETWEEN 0 AND 1),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  first_message_id INTEGER,
  last_message_id INTEGER
) STRICT;
CREATE INDEX short_term_memories_by_session ON short_term_memories (session_id, updated_at DESC);

CREATE TABLE long_term_memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content TEXT NOT NULL,
  memory_type TEXT NOT NULL
    CHECK (memory_type IN ('preference', 'fact', 'decision', 'project', 'event', 'skill', 'constraint')),
  source_session TEXT,
  confidence REAL NOT NULL DEFAULT 0.5 CHECK (confidence BETWEEN 0 AND 1),
  access_count INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
  last_accessed TEXT,
  expires_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  user_id TEXT NOT NULL,
  project TEXT,
  agent_id TEXT,
  team_id TEXT,
  branch TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('user', 'agent', 'system', 'knowledge', 'tool')),
  importance REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
  status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'superseded', 'archived', 'expired', 'trashed', 'pending')),
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  topic_key TEXT,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  supersedes INTEGER REFERENCES long_term_memories (id) ON DELETE SET NULL,
  merged_from TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(merged_from)),
  source_message_id INTEGER
) STRICT;
CREATE INDEX long_term_memories_by_type ON long_term_memories (memory_type, confidence DESC);
CREATE INDEX long_term_memories_by_branch ON long_term_memories (user_id, branch, status);
CREATE INDEX long_term_memories_by_topic ON long_term_memories (user_id, topic_key) WHERE topic_key IS NOT NULL;
CREATE INDEX long_term_memories_by_successor ON long_term_memories (supersedes) WHERE supersedes IS NOT NULL;

CREATE TABLE memory_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'short_term', 'long_term')),
  item_id INTEGER NOT NULL,
  action TEXT NOT NULL,
  before TEXT CHECK (before IS NULL OR json_valid(before)),
  after TEXT CHECK (after IS NULL OR json_valid(after)),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  timestamp TEXT NOT NULL
) STRICT;
CREATE INDEX memory_events_by_item ON memory_events (kind, item_id, id DESC);
CREATE INDEX memory_events_by_time ON memory_events (timestamp);
"""

PROVENANCE = """
CREATE TABLE injections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL REFERENCES main_messages (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'short_term', 'long_term')),
  item_id INTEGER NOT NULL,
  tier TEXT NOT NULL CHECK (tier IN ('working', 'short_term', 'long_term')),
  rank INTEGER NOT NULL,
  tokens INTEGER NOT NULL CHECK (tokens >= 0),
  vector REAL NOT NULL,
  text REAL NOT NULL,
  coverage REAL NOT NULL,
  importance REAL NOT NULL,
  recency REAL NOT NULL,
  heat REAL NOT NULL,
  branch REAL NOT NULL,
  total REAL NOT NULL
) STRICT;
CREATE INDEX injections_by_message ON injections (message_id, rank);
CREATE INDEX injections_by_item ON injections (kind, item_id);

CREATE TABLE feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL REFERENCES main_messages (id) ON DELETE CASCADE,
  rating INTEGER NOT NULL CHECK (rating IN (-1, 1)),
  note TEXT NOT NULL DEFAULT '',
  timestamp TEXT NOT NULL
) STRICT;
CREATE INDEX feedback_by_message ON feedback (message_id);
"""

EMBEDDINGS = """
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'short_term', 'long_term')),
  item_id INTEGER NOT NULL,
  model TEXT NOT NULL,
  width INTEGER NOT NULL CHECK (width > 0),
  updated_at TEXT NOT NULL,
  vector BLOB NOT NULL CHECK (length(vector) = 4 * width),
  code BLOB NOT NULL,
  UNIQUE (kind, item_id)
) STRICT;
CREATE INDEX embeddings_by_model ON embeddings (model);
CREATE INDEX embeddings_by_item ON embeddings (kind, item_id, model);

CREATE TABLE embedding_models (
  table_name TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  width INTEGER NOT NULL CHECK (width > 0),
  indexed_to INTEGER NOT NULL DEFAULT 0
) STRICT;
"""

# The text that goes in is tokenised already (memory.store.search) and split at blanks only; it is not kept here.
# Deleting a row deletes what indexes it. vec0 tables have no trigger: without the extension it could not run.
TEXT_INDEX = "".join(
    f"""
CREATE VIRTUAL TABLE fts_{table} USING fts5 (
  terms, content='', contentless_delete=1, tokenize="ascii tokenchars '-.:@+#''_&'"
);
CREATE VIRTUAL TABLE fts_{table}_vocabulary USING fts5vocab ('fts_{table}', 'row');
CREATE TRIGGER {table}_deleted AFTER DELETE ON {table} BEGIN
  DELETE FROM fts_{table} WHERE rowid = old.id;
  DELETE FROM embeddings WHERE kind = '{kind}' AND item_id = old.id;
END;
"""
    for kind, table in (
        ("message", "main_messages"),
        ("short_term", "short_term_memories"),
        ("long_term", "long_term_memories"),
    )
)

LIFECYCLE = """
ALTER TABLE memory_events ADD COLUMN batch INTEGER;
ALTER TABLE memory_events ADD COLUMN undoes INTEGER;
CREATE INDEX memory_events_by_batch ON memory_events (batch) WHERE batch IS NOT NULL;

CREATE TABLE maintenance_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL,
  started_by TEXT NOT NULL,
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  problem TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE dropped (
  what TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  last_at TEXT NOT NULL,
  PRIMARY KEY (what, reason)
) STRICT;
"""

IMPORTS = """
CREATE TABLE imports (
  source TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  lines INTEGER NOT NULL CHECK (lines >= 0),
  finished INTEGER NOT NULL CHECK (finished IN (0, 1)),
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX imports_by_path ON imports (path);

CREATE TABLE imported_items (
  digest TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'short_term', 'long_term')),
  item_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

# Searching at size reads all codes of a model and kind: from the index, which is a tenth of the table.
PACKED_CODES = """
UPDATE embeddings SET code = x'';
DROP INDEX embeddings_by_model;
CREATE INDEX embeddings_codes ON embeddings (model, kind, id, item_id, code);
CREATE INDEX embeddings_without_code ON embeddings (model) WHERE code = x'';

CREATE TABLE embedding_centres (
  model TEXT PRIMARY KEY,
  width INTEGER NOT NULL CHECK (width > 0),
  centre BLOB NOT NULL CHECK (length(centre) = 4 * width)
) STRICT;
"""

CONTEXT_SCORES = """
ALTER TABLE injections ADD COLUMN context REAL NOT NULL DEFAULT 0;
ALTER TABLE injections ADD COLUMN form REAL NOT NULL DEFAULT 0;
ALTER TABLE injections ADD COLUMN evidence REAL NOT NULL DEFAULT 0;
"""
