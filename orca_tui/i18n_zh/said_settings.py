"""What the core says of the settings file, and what the doctor says."""

SAID: dict[str, str] = {
    # a key
    "Correct it, or delete it to use the default.": "请改正，或删去以使用默认值。",
    'There is no setting "{name}".': "没有设置项“{name}”。",
    "`orca-tui config show` lists them.": "`orca-tui config show` 列出全部设置。",
    "{where} must be a section with keys.": "{where} 应是一节，里面写各个键。",
    '{where} must be a list of texts, for example ["fact"].': '{where} 应是文本列表，例如 ["fact"]。',
    "{where} must be true or false.": "{where} 应是 true 或 false。",
    "{where} must be a whole number between {low} and {high}.": "{where} 应是 {low} 到 {high} 之间的整数。",
    "{where} must be a number between {low} and {high}.": "{where} 应是 {low} 到 {high} 之间的数。",
    '{where} must be text in "quotes".': '{where} 应是写在 "引号" 里的文本。',
    "{where} must be {names} or {last}.": "{where} 应是 {names} 或 {last}。",
    "{where} must be an address that begins with http:// or https:// and holds no user name or blank.": (
        "{where} 应是以 http:// 或 https:// 开头的地址，不含用户名和空格。"
    ),
    "{where} must be the name of an environment variable, not a key.": "{where} 应是环境变量名，而不是密钥本身。",
    "{where} must name a program.": "{where} 应写明一个程序。",
    "{where} must be written as a command: a quotation mark is not closed.": "{where} 应写成命令：有引号没有闭合。",
    "{where} must not be empty.": "{where} 不能为空。",
    "{where} holds a character that cannot go in a request header (position {n}).": (
        "{where} 含有请求头里不能用的字符（第 {n} 位）。"
    ),
    "Copy the key again.": "请重新复制密钥。",
    "{where} is no name for it: letters, digits, _ and -, at most 64.": (
        "{where} 不能作名称：只用字母、数字、_ 和 -，最多 64 个。"
    ),
    "Rename the section.": "请给这一节改名。",
    "{where} is nested too deeply.": "{where} 嵌套过深。",
    "{where} must be a finite number.": "{where} 应是有限的数。",
    "{where} must be text, a number, true, false, a list or a table.": (
        "{where} 应是文本、数字、true、false、列表或表。"
    ),
    "{where}: [memory] working_share, short_term_share and long_term_share are {total} together; they must not be "
    "more than 1.": "{where}：[memory] 的 working_share、short_term_share 与 long_term_share 合计 {total}，不能超过 1。",
    "Lower one of the three. A share that is not written has its default: 0.5, 0.3 and 0.2.": (
        "请调低其中一个。没写的用默认值：0.5、0.3、0.2。"
    ),
    # warnings
    "{where} is not a setting.": "{where} 不是设置项。",
    "{where}: other users can read this file, so [{section}] api_key is not used.": (
        "{where}：其他用户能读取此文件，因此不使用 [{section}] 的 api_key。"
    ),
    "{where}: other users can write this file, so [{section}] api_key_command is not run.": (
        "{where}：其他用户能写入此文件，因此不运行 [{section}] 的 api_key_command。"
    ),
    "{where}: other users can write this file, so [mcp.{name}] is not started.": (
        "{where}：其他用户能写入此文件，因此不启动 [mcp.{name}]。"
    ),
    "Run: chmod {mode} {path}": "请运行：chmod {mode} {path}",
    "{where} names {tool}, which agents do not get: their caller passes what they need to know.": (
        "{where} 写了 {tool}，智能体不能用它：需要知道的由调用者告诉它们。"
    ),
    '{where} names "{tool}", which is no tool.': "{where} 写了“{tool}”，没有这个工具。",
    "There are {names}.": "可用：{names}。",
    '{where} holds "{path}", which changes with the directory that orca is started in.': (
        "{where} 含有“{path}”，它会随 orca 的启动目录而变。"
    ),
    "{where} has neither a command nor a url: it is not used.": "{where} 没有写 command 或 url：不使用。",
    "{where} has both a command and a url: the command is used.": "{where} 同时写了 command 和 url：使用 command。",
    # the file
    "{path} is saved as UTF-16.": "{path} 是以 UTF-16 保存的。",
    "Save it again as UTF-8.": "请另存为 UTF-8。",
    "{where}: the file holds a NUL byte.": "{where}：文件含有 NUL 字节。",
    "Was it copied from a binary file? Delete it.": "是从二进制文件复制来的吗？请删去。",
    "{path} is a directory; the settings must be a file.": "{path} 是目录；设置必须是文件。",
    "{path} is not a regular file; the settings must be a file.": "{path} 不是普通文件；设置必须是文件。",
    "Move {path} away.": "请移走 {path}。",
    "{path} is {n} MB; a settings file is at most {most} MB.": "{path} 有 {n} MB；设置文件最多 {most} MB。",
    "Is this the right file?": "是这个文件吗？",
    "{path} cannot be read: permission denied.": "{path} 无法读取：没有权限。",
    "Run: chmod u+r {path}": "请运行：chmod u+r {path}",
    "Choose another home with --home DIR.": "请用 --home 目录 另选位置。",
    "{where}: this is not UTF-8 text.": "{where}：不是 UTF-8 文本。",
    "Save the file as UTF-8.": "请把文件存为 UTF-8。",
    "Settings have at most a few levels.": "设置最多只有几层。",
    "{where}: the number is too large.": "{where}：数字过大。",
    "Write a smaller number.": "请写小一些的数。",
    "{where}: this looks like YAML.": "{where}：看起来像 YAML。",
    'The file must be TOML, for example: model = "name"': '文件应是 TOML，例如：model = "名称"',
    "{where}: the section [{name}] appears twice; the first is at line {n}.": (
        "{where}：[{name}] 这一节出现两次，第一次在第 {n} 行。"
    ),
    "Join the two.": "请合并。",
    '{where}: "{name}" has no value.': "{where}：“{name}”没有值。",
    "Write a value behind the =, or delete the line.": "请在 = 后写上值，或删去该行。",
    '{where}: "{name}" appears twice.': "{where}：“{name}”出现两次。",
    "Delete one of the two lines.": "请删去其中一行。",
    '{where}: the value of "{name}" is not valid TOML.': "{where}：“{name}”的值不是有效的 TOML。",
    'Text needs "quotes".': '文本要写在 "引号" 里。',
    "{where}: this is not valid TOML: {words}.": "{where}：不是有效的 TOML：{words}。",
    "Correct that line.": "请改正这一行。",
    'A name with other characters than A-Z, a-z, 0-9, _ and - needs "quotes".': (
        '含有 A-Z、a-z、0-9、_、- 以外字符的名称要写在 "引号" 里。'
    ),
    "[{section}] reads its key from {variable}, which is not set.": "[{section}] 的密钥取自 {variable}，但它没有设置。",
    # changing it
    "{key} is not set.": "{key} 没有设置。",
    "{path} was changed by another program at the same time.": "{path} 同时被其他程序改动。",
    "{key} was changed in the file meanwhile.": "文件中的 {key} 已被改动。",
    "Look at it, then choose.": "请查看后再选择。",
    "{key} is a table, not a key.": "{key} 是表，不是键。",
    "{key} is a section, not a key.": "{key} 是一节，不是键。",
    "Name a key in it: {key}.NAME": "请写明其中的键：{key}.名称",
    "Check the directory and the free space.": "请检查目录和剩余空间。",
    "orca-tui config set {key} VALUE": "orca-tui config set {key} 值",
    "{path} cannot be edited: {words}.": "{path} 无法编辑：{words}。",
    "Change the key with an editor.": "请用编辑器修改该键。",
}
