"""What the core says of the store: the database, backups, files and disks."""

SAID: dict[str, str] = {
    # the system's words
    "No space left on device": "磁盘空间不足",
    "Permission denied": "没有权限",
    "No such file or directory": "没有此文件或目录",
    "Is a directory": "是目录",
    "Not a directory": "不是目录",
    "File exists": "文件已存在",
    "Read-only file system": "文件系统只读",
    "Disk quota exceeded": "磁盘配额已用完",
    "Input/output error": "输入输出错误",
    "Too many open files": "打开的文件过多",
    "File name too long": "文件名过长",
    "Operation not permitted": "操作不被允许",
    # opening
    "{path} is damaged or not a database.": "{path} 已损坏，或不是数据库。",
    "{path} is damaged: something in it is not what was written.": "{path} 已损坏：其中有内容与写入时不符。",
    "The file was left as it is. Close orca, then save what can be read: orca-tui recover": (
        "文件未作改动。请关闭 orca，再抢救可读的内容：orca-tui recover"
    ),
    "The database was damaged, and was made anew. {detail}": "数据库已损坏，现已重建。{detail}",
    "Saved: {names}.": "已保存：{names}。",
    "Lost: {names}.": "已丢失：{names}。",
    "How much was lost cannot be told.": "无法得知丢失了多少。",
    "Rows that may be garbled: {n}.": "可能有误的行：{n}。",
    "The damaged files are in {path}.": "损坏的文件在 {path}。",
    "The newest backup is {name}. To go back to it: orca-tui restore PATH": (
        "最新的备份是 {name}。恢复命令：orca-tui restore 路径"
    ),
    "Here lie {names}: to go back to one, close orca first and put it in the place of {name}.": (
        "这里有 {names}：要恢复其中之一，请先关闭 orca，再用它替换 {name}。"
    ),
    "If there were conversations in it, close orca and put a backup of yours in its place.": (
        "如果里面有过对话，请关闭 orca，用自己的备份替换它。"
    ),
    "{path} was empty: everything begins anew.": "{path} 是空的：一切从头开始。",
    "The SQLite library cannot be loaded ({error}).": "无法加载 SQLite 库（{error}）。",
    "Install it again: pip install -U apsw": "请重装：pip install -U apsw",
    "{error} Until it can be opened, orca keeps everything in plain files: {path}.": (
        "{error}在能打开之前，orca 把一切保存为普通文件：{path}。"
    ),
    "{path} cannot be written to.": "{path} 无法写入。",
    "Make it writable for you: chmod u+w {path}": "请设为可写：chmod u+w {path}",
    "{path} is the database of another program.": "{path} 是其他程序的数据库。",
    "The file was left as it was; set ORCA_HOME to another directory to use that instead.": (
        "文件未作改动；可把 ORCA_HOME 设为其他目录。"
    ),
    "{path} was written by a newer version of orca ({what}).": "{path} 由更新版本的 orca 写入（{what}）。",
    "Upgrade orca-tui.": "请升级 orca-tui。",
    "The file system of the database has no write-ahead logging (a network drive?).": (
        "数据库所在的文件系统不支持预写日志（是网络盘吗？）。"
    ),
    "Set ORCA_HOME to a directory on a local disk.": "请把 ORCA_HOME 设为本地磁盘上的目录。",
    "Set ORCA_HOME to the directory where the database really is.": "请把 ORCA_HOME 设为数据库真正所在的目录。",
    "{path} is a link, a directory or a device, not a file.": "{path} 是链接、目录或设备，不是文件。",
    "{path} cannot be created: {why}.": "{path} 无法创建：{why}。",
    "{path} cannot be opened.": "{path} 无法打开。",
    "{path} cannot be read: {why}.": "{path} 无法读取：{why}。",
    "{path} cannot be written: {why}.": "{path} 无法写入：{why}。",
    "{path} cannot be used: {why}.": "{path} 无法使用：{why}。",
    "Check that you may read and write {path}.": "请检查你对 {path} 是否有读写权限。",
    "Check that you may read {path}.": "请检查你对 {path} 是否有读取权限。",
    "Check that you may write to {path}.": "请检查你对 {path} 是否有写入权限。",
    "Check that you may read it.": "请检查你是否有读取权限。",
    "Make {path} and the file writable for you.": "请让你对 {path} 和该文件有写入权限。",
    "The database needs an upgrade, and could not be copied to {path} before: {why}.": (
        "数据库需要升级，但升级前无法复制到 {path}：{why}。"
    ),
    "Make room and check that you may write to {path}.": "请腾出空间，并检查你对 {path} 是否有写入权限。",
    "Make room, and check that you may write to {path}.": "请腾出空间，并检查你对 {path} 是否有写入权限。",
    "The database in {path} is open in another window or program.": "{path} 里的数据库正被其他窗口或程序打开。",
    "Close every orca that uses it, then try again.": "请关闭所有使用它的 orca，再试一次。",
    "The database in {path} is being restored.": "正在恢复 {path} 里的数据库。",
    "Try again when that is done.": "请在恢复完成后再试。",
    # at work
    "The store is closed.": "存储已关闭。",
    "The database could not do that: {error}.": "数据库无法完成：{error}。",
    "Run `orca-tui doctor`.": "请运行 `orca-tui doctor`。",
    "Nothing can be written to {path}: the disk or quota is full.": "无法写入 {path}：磁盘或配额已满。",
    "Free some space. What is stored is whole.": "请腾出空间。已保存的内容完好。",
    "Free some space.": "请腾出空间。",
    "Nothing of the reply is lost: it is written as soon as that works, as long as orca is open.": (
        "回复没有丢失：只要 orca 开着，能写入时就会写入。"
    ),
    "{path} is held by another process.": "{path} 正被其他进程占用。",
    "Close the other program that uses it, or try again.": "请关闭占用它的程序，或再试一次。",
    "The disk failed while {path} was in use ({error}).": "使用 {path} 时磁盘出错（{error}）。",
    "The disk failed while {path} was in use: {why}.": "使用 {path} 时磁盘出错：{why}。",
    "Check the disk; try again.": "请检查磁盘后重试。",
    "The database refused a value: {error}.": "数据库拒绝了一个值：{error}。",
    "A value cannot be stored: {error}.": "有一个值无法保存：{error}。",
    "The files in {path} cannot be used: {why}.": "{path} 里的文件无法使用：{why}。",
    "The store refused a value: what was given belongs to no reply.": "存储拒绝了一个值：不属于任何回复。",
    "The store refused a value: {error}.": "存储拒绝了一个值：{error}。",
    "There is no {what}.": "没有 {what}。",
    "There is no message {id} in this session.": "本会话没有编号 {id} 的消息。",
    "No session begins with {prefix}.": "没有编号以 {prefix} 开头的会话。",
    "`orca-tui sessions list` shows them all.": "`orca-tui sessions list` 列出全部会话。",
    "More than one session begins with {prefix}.": "有多个会话的编号以 {prefix} 开头。",
    "Give more of the id.": "请多给几位编号。",
    "There is no session {prefix}.": "没有会话 {prefix}。",
    "Give at least {n} characters of its id.": "请至少给出编号的前 {n} 个字符。",
    "No session is open that “this” could mean.": "没有打开的会话可作为“this”。",
    "Give the beginning of an id.": "请给出编号的开头。",
    # files that go with a message
    "A file that went with a message is not there any more.": "随消息发送的一个文件已不存在。",
    "Attach it again.": "请重新附上。",
    "The file could not be kept: {why}.": "文件无法保存：{why}。",
    # backups
    "There is no database at {path}.": "{path} 没有数据库。",
    "There is nothing to back up yet.": "还没有可备份的内容。",
    "{path} exists already.": "{path} 已存在。",
    "Choose another name: a backup replaces nothing.": "请换个名称：备份不会覆盖任何文件。",
    "There is no backup at {path}.": "{path} 没有备份。",
    "Name the file that `orca-tui backup` wrote.": "请指定 `orca-tui backup` 写出的文件。",
    "That is the database itself.": "这就是数据库本身。",
    "Name a backup of it.": "请指定它的备份。",
    "What was to be copied is damaged: {error}.": "要复制的内容已损坏：{error}。",
    "the file is damaged ({words})": "文件已损坏（{words}）",
    "{n} rows of {table} are not what was written": "{table} 有 {n} 行与写入时不符",
    "`orca-tui doctor` tells more; `orca-tui recover` saves what can be read.": (
        "详情见 `orca-tui doctor`；`orca-tui recover` 可抢救可读的内容。"
    ),
    "There is too little room for a backup in {path}.": "{path} 空间不足，无法备份。",
    "The backup cannot be read: {error}": "备份无法读取：{error}",
    "Name another backup.": "请指定别的备份。",
    "Check that there is room and that you may.": "请检查空间和权限。",
    "{path} is not a database of orca.": "{path} 不是 orca 的数据库。",
    "Name another file.": "请指定别的文件。",
    "The backup was left off: orca ends.": "备份未完成：orca 正在退出。",
    "What was recovered is not sound: {error}.": "抢救出的内容不完好：{error}。",
    "Restore a backup of the database.": "请恢复数据库的备份。",
    "{path} cannot be recovered: {why}.": "{path} 无法抢救：{why}。",
    "Check that there is room, then again.": "请检查空间后再试。",
    "Nothing can be read from {path}.": "{path} 中没有可读的内容。",
    "It was left as it is. Restore a backup of it.": "文件未作改动。请恢复它的备份。",
    # the engine
    "Unexpected error in orca: {kind}.": "orca 出现意外错误：{kind}。",
    "unexpected {kind}": "意外错误 {kind}",
    "The log tells more.": "详情见日志。",
}
