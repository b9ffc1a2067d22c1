"""The memory screens beyond the first list: cold list, rollback, scope, pictures."""

TEXTS: dict[str, str] = {
    "Cold": "冷却",
    "Duplicates": "重复",
    "keep": "保留",
    "everything": "全部",
    "No two memories say the same. When they do, it is proposed here to make one of them.": (
        "没有内容相同的记忆。出现时，会在这里建议合并为一条。"
    ),
    "says what {id} says:": "与 {id} 内容相同：",
    "undo its change": "撤销其改动",
    "Take back the newest change of this memory": "撤销此记忆最近的一次改动",
    "roll back": "回滚",
    "Give memory the state that it had at a time; shows it before": "让记忆回到某个时间的状态；先显示将改变什么",
    "{n} stay; they are not proposed again": "{n} 条保留；不再提议归档",
    "Nothing has cooled. What was not used for long and matters little is proposed here for archiving.": (
        "没有冷却的记忆。长期未用且不重要的会在这里提议归档。"
    ),
    "written in 12 weeks": "12 周内写入",
    "this project": "当前项目",
    "no project": "无项目",
    "Roll memory back": "回滚记忆",
    "to how it was: 30m (minutes), 2h, 3d, 1mo ago, or 2026-11-01T12:00": (
        "回到：30m（分钟）、2h、3d、1mo（月）之前，或 2026-11-01T12:00"
    ),
    "only what changed until (empty: now)": "仅限此前的改动（留空：现在）",
    "This would put back {n}:": "将恢复 {n} 条：",
    "Nothing has changed since then.": "此后没有改动。",
    "Ctrl+S rolls back; undo takes it back · Tab goes on · Esc leaves it": "Ctrl+S 回滚；可撤销 · Tab 下一项 · Esc 放弃",
    "Tab goes on · Esc leaves it": "Tab 下一项 · Esc 放弃",
    "Rolled back: {n} put back as they were": "已回滚：{n} 条恢复原样",
    "changed again since, stays": "此后又有改动，保留",
    "Given to the chosen reply": "所选回复得到的记忆",
    "Choose whose memory is meant: yours, or a project's": "选择使用谁的记忆：你的，或某个项目的",
    "Whose memory": "使用谁的记忆",
    "New sessions belong to the project “{name}”: its memories and yours are recalled": (
        "新会话属于项目“{name}”：会用到它的和你的记忆"
    ),
    "New sessions belong to no project: only memories that are tied to none are recalled": (
        "新会话不属于任何项目：只用到不属于项目的记忆"
    ),
    "this session stays as it is": "此会话不变",
    "{n} memories are seen": "可见 {n} 条记忆",
}
