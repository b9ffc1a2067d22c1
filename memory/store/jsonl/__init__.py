"""The store on plain files, for when SQLite cannot be opened: a file of lines a session, one more for memories.

`lock` and `lines` are the files, `log` is all of them together, `state` what their lines add up to; the parts hold the
methods of the protocol, and `store` puts them together.
"""

from memory.store.jsonl.store import JSONLStore

__all__ = ["JSONLStore"]
