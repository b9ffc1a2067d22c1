"""Notifications, suspend, the browser, backups and what went wrong with files."""

TEXTS: dict[str, str] = {
    "sqlite-vec cannot be used here: vectors are compared without it, more slowly. More: /doctor": "这里不能使用 sqlite-vec：向量比较改用较慢的方式。详情：/doctor",
}
