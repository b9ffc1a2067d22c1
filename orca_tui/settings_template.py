"""What a new `config.toml` says: every key with its default, commented out, and what it is for."""

TEMPLATE = """\
# Settings of orca-tui. Every key is optional; what is commented out shows the default.
# `orca-tui config set KEY VALUE` changes one key and keeps your comments.
# Environment variables win: SILICONFLOW_API_KEY, ORCA_PROVIDER, ORCA_BASE_URL, ORCA_MODEL, ORCA_API_KEY.

[llm]
# Who answers: auto, openai (or any server that speaks its protocol), siliconflow, ollama, local, demo.
# provider = "auto"
# base_url = ""              # for example "https://api.example.com/v1"
# model = ""                 # empty: the provider's default
# api_key = ""               # used only while nobody else can read this file
# api_key_env = ""           # name of a variable that holds the key; wins over the next two and api_key
# api_key_command = ""       # what prints the key, run without a shell: "pass show orca"; wins over the next one
# api_key_keyring = ""       # the system keyring's entry; written by `orca-tui key set`
# context_window = 0         # tokens; 0 asks the server
# max_tokens = 0             # longest reply; 0 leaves it to the server
# temperature = 0.7          # not sent unless set
# system_prompt = ""
# connect_timeout = 5.0      # seconds
# first_byte_timeout = 60.0  # seconds until a reply begins
# idle_timeout = 60.0        # seconds of silence inside a reply
# max_retries = 3

# Whatever else the server takes, sent along as it is:
# [llm.parameters]
# top_p = 0.9

[siliconflow]
# api_key = ""
# api_key_command = ""
# api_key_keyring = ""
# base_url = "https://api.siliconflow.cn/v1"
# model = "Qwen/Qwen3-8B"
# embedding_model = "Pro/BAAI/bge-m3"
# dimensions = 1024

[embedding]
# What turns text into vectors: auto, local, siliconflow, openai, off.
# provider = "auto"
# base_url = ""
# model = ""
# api_key = ""
# api_key_env = ""
# api_key_command = ""
# api_key_keyring = ""
# dimensions = 0             # 0: as the model makes them
# batch_size = 5
# batch_wait = 0.5           # seconds to wait for a fuller batch
# timeout = 20.0             # seconds

[memory]
# enabled = true
# budget_share = 0.6         # share of the context window that memory may use
# working_share = 0.5        # of that: the newest messages,
# short_term_share = 0.3     # summaries of this session,
# long_term_share = 0.2      # what outlives it; together at most 1
# short_term_top_k = 3
# long_term_top_k = 5
# short_term_keep = 10       # summaries kept for each session
# extract_every = 20         # turns between two extractions into long-term memory
# near_duplicate = 0.8       # likeness from which two memories are one
# backups = 5                # kept; one is made on each day that something changed
# user_id = "default"
# project = ""

# A data branch of your own, looked at before the built-in ones:
# [memory.branches.work]
# types = ["project", "decision"]
# sources = ["user"]
# searched = true
# lifetime_days = 365        # 0: for ever
# fact_longer_than = 0       # characters

[ui]
# theme = "orca-dark"
# language = "auto"          # auto, en, zh
# sidebar = true
# sessions = true
# cursor_blink = false
# notifications = "auto"     # when a long reply ends out of focus: auto, bell, osc9, desktop, off

[tools]
# What the model may call; everything that reaches out of orca asks first.
# enabled = true
# roots = []                 # directories that files may be read in
# fetch_url = false
# max_rounds = 12            # requests in one turn, the first included
# timeout = 60.0             # seconds for one call
# max_result_tokens = 4000
# allow = []                 # what is not asked about any more

# A way to answer that a session can be given:
# [personas.brief]
# prompt = "Answer in one sentence."
# model = ""                 # empty: the usual one
# max_tokens = 0

# A subagent, which a model may call (agent_call), and you: /agent reader TASK. Orca ships coder, researcher and critic;
# a section of the same name changes them.
# [agents.reader]
# description = "Reads a file and answers a question about it"
# prompt = ""
# model = ""                 # empty: the usual one
# tools = ["read_file"]      # agent_call lets it call agents; it never gets memory
# max_tokens = 50000         # of one run, prompts and replies of all its requests
# max_seconds = 300.0
# enabled = true

# An MCP server:
# [mcp.files]
# command = "mcp-files"
# args = []

[keys]
# Binding and keys, comma separated; /help lists the names.
# quit = "ctrl+q"
"""
