"""The terminal around the screen: window, notices, suspending, the browser."""

TEXTS: dict[str, str] = {
    "Go back to the shell; fg brings orca back": "回到 shell；fg 命令返回 orca",
    "Take back what was typed": "撤销输入",
    "orca cannot be suspended here.": "这里无法挂起 orca。",
    "orca: a reply ended with an error: {title}": "orca：回复出错：{title}",
    "orca: a reply failed": "orca：回复出错",
    "orca: the reply is there: {title}": "orca：回复已完成：{title}",
    "orca: the reply is there": "orca：回复已完成",
}
