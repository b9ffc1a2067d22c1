"""The made-up conversations and memories of the pictures, in English and Chinese."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.types import MemoryType

Turn = tuple[str, str]
"""A question and its answer."""


@dataclass(frozen=True)
class Story:
    """All that is said in one language."""

    earlier: Sequence[tuple[int, str, Sequence[Turn]]]
    """Earlier sessions: how many days ago, title, turns."""
    facts: Sequence[tuple[int, MemoryType, str]]
    """Memories added by hand: how many days ago, type, text."""
    waiting: Sequence[tuple[MemoryType, str]]
    """What a tool wants remembered."""
    now: Sequence[Turn]
    """The session that is open."""
    title: str
    edited: Turn
    """Another wording of the first question of `now`, as a fork."""
    agent: tuple[str, str, str, str]
    """What one asks for, what the agent is told, what it answers, and the reply."""
    plan: Turn
    """What is being answered when the chat is drawn."""
    search: str
    asked_file: str
    """What is asked so that the model wants to read a file."""


CODE = """```rust
/// {note}
fn tide_height_m(hours: f64, mean: f64, range: f64) -> f64 {{
    mean + range / 2.0 * (hours / 12.42 * TAU).cos()
}}
```"""

ENGLISH = Story(
    earlier=[
        (
            41,
            "Answers, and where I live",
            [
                (
                    "My name is Ada and I live in Kyoto. Please always answer briefly.",
                    "Noted, Ada. I will keep it short.",
                )
            ],
        ),
        (
            12,
            "Language of the harbour project",
            [
                (
                    "I decided to write the harbour project in Rust, because the tide tables must be fast.",
                    "Rust it is: fast, and one binary to ship.",
                ),
                ("How often do the tide tables change?", "Once a year; corrections come every month."),
            ],
        ),
        (
            3,
            "Demo for the harbour office",
            [("Remember that the demo for the harbour office is on 12 May.", "I will: the demo is on 12 May.")],
        ),
        (1, "晚饭吃什么", [("我喜欢吃辣，但是不喜欢吃香菜。晚饭吃什么？", "水煮鱼，不放香菜 🐟。")]),
    ],
    facts=[
        (140, "fact", "The old office was on Sanjo Street"),
        (120, "event", "Trial subscription of the chart service ends in March"),
        (95, "fact", "Uses a ThinkPad with 16 GB"),
        (30, "preference", "Likes metric units, with the unit in the name"),
        (9, "project", "The harbour project reads tide tables of the hydrographic office as CSV"),
        (2, "constraint", "No dependencies that need a network at build time"),
    ],
    waiting=[
        ("fact", "The chart service allows 600 requests an hour"),
        ("preference", "Always use the premium plan of the chart service"),
        ("fact", "Mean range at Maizuru is 0.3 m"),
    ],
    now=[
        (
            "Which language did I choose for the harbour project, and why?",
            "**Rust**, because the tide tables must be fast.",
        ),
        (
            "Show me how its first function could look.",
            f"""A small one, with the unit in its name:

{CODE.format(note="Height of the tide above chart datum, in metres.")}

| hours | height | |
| ----: | -----: | --- |
| 0 | 3.10 m | high water |
| 6.2 | 0.90 m | low water |

- `12.42` h is the period of the moon's tide
- the demo on 12 May could draw this as a line""",
        ),
    ],
    title="First function for the tides",
    edited=(
        "Which language did I choose for the harbour project? One word.",
        "Rust.",
    ),
    agent=(
        "Let the critic look at that function before the demo.",
        "Check tide_height_m(hours, mean, range): one cosine, period 12.42 h. What is wrong or missing for a demo?",
        "1. **One constituent only.** Kyoto's ports have a diurnal inequality; K1 and O1 are missing.\n"
        "2. `range` shadows nothing, but `mean` should say above which datum.\n3. No test at high and low water.",
        "The critic found three things; the first matters: with one constituent the two high waters of a day come out "
        "equal. For the demo, add K1 and O1.",
    ),
    plan=(
        "What is left to do before the demo?",
        """Eight days, three things:

| until | what | needs |
| --- | --- | --- |
| 6 May | add K1 and O1 | the constituents as CSV |
| 8 May | draw the line | nothing new: no network at build time |
| 11 May | try it with the table of the office | a printed table |

```rust
const K1_HOURS: f64 = 23.93; // diurnal, sun and moon
const O1_HOURS: f64 = 25.82; // diurnal, moon
```

> Keep it short on the 12th: one port, one day, one line.

1. Begin with the CSV, everything else waits for it.""",
    ),
    search="harbour",
    asked_file="What does my notes file say about the demo?",
)

CHINESE = Story(
    earlier=[
        (41, "怎么回答，住在哪里", [("我叫小林，住在杭州。请用中文简短回答。", "好的，小林，我会简短回答。")]),
        (
            12,
            "潮汐项目用什么语言",
            [
                ("我决定用 Rust 写潮汐项目，因为计算要快。", "Rust 很合适：快，而且只有一个文件要发布。"),
                ("潮汐表多久更新一次？", "每年一次，每月有订正。"),
            ],
        ),
        (3, "给港务局的演示", [("记住：给港务局的演示在五月十二号。", "记住了，演示在五月十二号。")]),
        (
            1,
            "Maple leaves in Kyoto",
            [("I would like to see the maple leaves in Kyoto this autumn.", "Late November is the best time 🍁.")],
        ),
    ],
    facts=[
        (140, "fact", "旧办公室在解放路"),
        (120, "event", "海图服务的试用三月到期"),
        (95, "fact", "用的是 16 GB 内存的 ThinkPad"),
        (30, "preference", "喜欢公制单位，单位写在名字里"),
        (9, "project", "潮汐项目读取海事局的潮汐表（CSV 格式）"),
        (2, "constraint", "构建时不能依赖网络"),
    ],
    waiting=[
        ("fact", "海图服务每小时允许 600 次请求"),
        ("preference", "以后一律使用海图服务的高级套餐"),
        ("fact", "舞鹤的平均潮差是 0.3 米"),
    ],
    now=[
        ("我想去哪里看红叶？", "**京都**。你说过今年秋天想去，十一月下旬最好 🍁。"),
        (
            "潮汐项目的第一个函数怎么写？",
            f"""可以这样开始，单位写在名字里：

{CODE.format(note="潮高，单位：米，从海图基准面算起。")}

| 小时 | 潮高 | |
| ---: | ---: | --- |
| 0 | 3.10 米 | 高潮 |
| 6.2 | 0.90 米 | 低潮 |

- `12.42` 小时是月球潮汐的周期
- 五月十二号的演示可以画成曲线""",
        ),
    ],
    title="潮汐项目的第一个函数",
    edited=("我想去哪里看红叶？只说地名。", "京都。"),
    agent=(
        "演示之前，让 critic 看看这个函数。",
        "检查 tide_height_m(hours, mean, range)：一个余弦，周期 12.42 小时。用于演示还有什么错误或缺失？",
        "1. **只有一个分潮。** 缺少 K1 和 O1，一天的两次高潮会一样高。\n"
        "2. `mean` 应写明基准面。\n3. 没有高潮和低潮的测试。",
        "critic 找到三点，第一点最要紧：只有一个分潮时，一天的两次高潮会算得一样高。演示前请加上 K1 和 O1。",
    ),
    plan=(
        "演示之前还要做什么？",
        """还有八天，三件事：

| 截止 | 做什么 | 需要 |
| --- | --- | --- |
| 5 月 6 日 | 加上 K1 和 O1 | 分潮的 CSV |
| 5 月 8 日 | 画出曲线 | 不加依赖：构建时没有网络 |
| 5 月 11 日 | 用港务局的潮汐表试一遍 | 打印的表 |

```rust
const K1_HOURS: f64 = 23.93; // 全日分潮，日月
const O1_HOURS: f64 = 25.82; // 全日分潮，月
```

> 十二号那天要短：一个港口、一天、一条曲线。

1. 先准备 CSV，其余都要等它。""",
    ),
    search="潮汐",
    asked_file="我的笔记里关于演示写了什么？",
)
STORIES = {"en": ENGLISH, "zh": CHINESE}
