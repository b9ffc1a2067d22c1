"""What the doctor says; its rows are cut at semicolons before they are looked up."""

SAID: dict[str, str] = {
    "Please report this.": "请反馈此问题。",
    "{term}, 256 colours or fewer": "{term}，256 色以下",
    "{term}, no colour (NO_COLOR)": "{term}，无颜色（NO_COLOR）",
    "The app needs a terminal for input and output.": "界面程序的输入和输出都需要终端。",
    "This terminal cannot draw the app (TERM={name}).": "这个终端无法显示界面（TERM={name}）。",
    "Only the app needs one.": "只有界面程序需要终端。",
    "no locale is set": "没有设置区域",
    "Set a UTF-8 locale: LC_ALL=C.UTF-8": "请设置 UTF-8 区域：LC_ALL=C.UTF-8",
    "the path is not valid": "路径无效",
    "Check who may enter the directories above it.": "请检查上级目录的访问权限。",
    "{path} is not a directory": "{path} 不是目录",
    "{path} is not a file": "{path} 不是文件",
    "Move it away, or choose another home: --home DIR": "请移走它，或另选位置：--home 目录",
    "{path}, mode {mode}": "{path}，权限 {mode}",
    "{path}, mode {mode}, not writable": "{path}，权限 {mode}，不可写",
    "{path}, mode {mode}: other users can reach it": "{path}，权限 {mode}：其他用户可以访问",
    "{path}, not made yet": "{path}，尚未创建",
    "{path}, not made yet: everything has its default": "{path}，尚未创建：全部用默认值",
    "{path} is not there and cannot be made": "{path} 不存在，也无法创建",
    "You may not write to {path}: use --home DIR": "你对 {path} 没有写入权限：请用 --home 目录",
    "not made yet": "尚未创建",
    "the first start makes it": "首次启动时创建",
    "Until it can be opened, everything is kept in {path}.": "在能打开之前，一切保存在 {path}。",
    "schema {n}": "结构版本 {n}",
    "{a} sessions, {b} messages, {c} short term, {d} long term, {e} embeddings": (
        "会话 {a}，消息 {b}，短期记忆 {c}，长期记忆 {d}，向量 {e}"
    ),
    "files that are not in it yet: {n}": "尚未导入的文件：{n}",
    "Bring them in: orca-tui migrate": "导入命令：orca-tui migrate",
    "has not run yet": "尚未运行",
    "It is tried again while the app is open; now: orca-tui memory maintain": (
        "程序打开时会再试；立即运行：orca-tui memory maintain"
    ),
    "last {when} by {who}": "上次 {when}，由 {who} 运行",
    "Upgrade it: pip install -U apsw": "请升级：pip install -U apsw",
    "full-text search works": "全文检索可用",
    "Vectors are compared without it, more slowly. Try: pip install -U sqlite-vec": (
        "没有它也能比较向量，只是慢些。可试：pip install -U sqlite-vec"
    ),
    "provider {kind}": "提供方 {kind}",
    "here: {names}": "可用：{names}",
    "here: only the demo": "可用：只有演示",
    "orca-tui model add, or a key: orca-tui config set siliconflow.api_key -": (
        "orca-tui model add，或设置密钥：orca-tui config set siliconflow.api_key -"
    ),
    "{name}: installed": "{name}：已安装",
    "not installed": "没有安装",
    "counted with a tokenizer ({n} in a greeting)": "用分词器计数（一句问候 {n} 个）",
    "none is set": "没有设置",
    "{name}: did not start within {n} s": "{name}：{n} 秒内没有启动",
    "Try it: orca-tui mcp test {name}": "测试命令：orca-tui mcp test {name}",
    "{name}: {n} tools": "{name}：{n} 个工具",
    "{name}: {n} tools, {m} of them new or changed": "{name}：{n} 个工具，其中 {m} 个新增或有更改",
    "Look at them and agree: orca-tui mcp test {name}, orca-tui mcp allow {name}": (
        "查看并同意：orca-tui mcp test {name}，orca-tui mcp allow {name}"
    ),
    "the file is sound, and its rows are what was written": "文件完好，内容与写入时一致",
    "Close orca, then save what can be read: orca-tui recover": "请关闭 orca，再抢救可读的内容：orca-tui recover",
    "Close orca, then save what can be read: orca-tui recover, or go back: orca-tui restore {path}": (
        "请关闭 orca，再抢救可读的内容：orca-tui recover；或恢复备份：orca-tui restore {path}"
    ),
    "none yet: the app makes one a day": "还没有：程序每天备份一次",
    "at once: orca-tui backup": "立即备份：orca-tui backup",
    "{n}, the newest {name}": "{n} 个，最新的是 {name}",
    "switched off ([tools] enabled)": "已关闭（[tools] enabled）",
    "no directories to read in ([tools] roots)": "没有可读取的目录（[tools] roots）",
    "never asked about: {names}": "不再询问：{names}",
    "not there: {names}": "不存在：{names}",
    "Correct [tools] roots.": "请改正 [tools] roots。",
    "off: search is by words only": "关闭：只按词语检索",
    "{model}, {n} wide": "{model}，{n} 维",
    "{model}, did not answer within {n} s": "{model}，{n} 秒内没有应答",
    "texts without one: {n}, found by their words only": "没有向量的文本：{n}，只能按词语找到",
    "texts without one: {n}": "没有向量的文本：{n}",
    "until it works, all are found by words only": "在可用之前，全部只能按词语找到",
    "those stored are {a} wide, new ones {b}": "已存的是 {a} 维，新的是 {b} 维",
    "those stored are by {a}, new ones by {b}": "已存的由 {a} 生成，新的由 {b} 生成",
    "They are made while the app is open; at once: orca-tui memory maintain": (
        "程序打开时会生成；立即生成：orca-tui memory maintain"
    ),
    "no text waits for one": "没有等待的文本",
}
