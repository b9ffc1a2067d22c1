"""What the demo says: a short tour in pages, one a turn, each showing some Markdown."""

from typing import Literal

_ENGLISH = (
    """**This is the demo: no model is answering.** What you read was written beforehand, but all around it is real: \
your message was stored the moment you sent it, it can be searched by meaning, and it will be here tomorrow.

orca is a chat client that *remembers*, in three tiers:

| tier | holds |
| --- | --- |
| working | the newest messages, word for word |
| short-term | one or two sentences for each turn of this session |
| long-term | facts and preferences that outlive the session |

The panel at the side shows what of it would go into the next prompt, and how many tokens that takes. Send another \
message to read how to set a model up.
""",
    """Still the demo. To talk with a **real model**, take one of these:

1. **SiliconFlow** – set the key, then start orca again:
   ```sh
   export SILICONFLOW_API_KEY=sk-…
   ```
2. **Ollama** – when it runs on this machine, orca finds it.
3. **Any OpenAI-compatible server**:
   ```sh
   orca-tui config set llm.base_url https://api.example.com/v1
   orca-tui config set llm.model some-model
   ```
4. **The built-in model** – no key, works without a network, but tiny and English only:
   ```sh
   pip install "orca-tui[local]"
   orca-tui model add builtin
   ```
   `orca-tui model list` names larger ones that also speak Chinese.

> Keys stay in your configuration or environment. They never reach the log, the database or an export.
""",
    """Still the demo, and this is its last page: what a reply can look like.

- lists, with `code` in them and **strong** or *soft* words
- [x] finished and [ ] open tasks

```python
def remember(fact: str) -> str:
    return f"I shall remember: {fact}"
```

Press **F1** or type `/help` for all keys and commands. To set a model up, see the page before this one, or ask the \
command line: `orca-tui doctor` tells what works here and what to do about what does not.
""",
)

_CHINESE = (
    """**这是演示，没有模型在回答。** 你读到的文字是事先写好的，但周围的一切都是真的：\
你的消息一发出就已存下，可以按意思搜索，明天还在。

orca 是一个会*记忆*的聊天客户端，记忆分三层：

| 层 | 内容 |
| --- | --- |
| 工作记忆 | 最新的消息，原文 |
| 短期记忆 | 本次会话每一轮的一两句摘要 |
| 长期记忆 | 跨会话保留的事实和偏好 |

侧边栏显示其中哪些会进入下一次请求，以及占用多少 token。再发一条消息，看看怎样配置模型。
""",
    """仍然是演示。要和**真正的模型**对话，任选一种：

1. **硅基流动（SiliconFlow）**：设置密钥，然后重新启动 orca：
   ```sh
   export SILICONFLOW_API_KEY=sk-…
   ```
2. **Ollama**：在本机运行时，orca 会自动找到它。
3. **任何兼容 OpenAI 的服务**：
   ```sh
   orca-tui config set llm.base_url https://api.example.com/v1
   orca-tui config set llm.model some-model
   ```
4. **内置模型**：不需要密钥和网络，但很小，而且只会英文：
   ```sh
   pip install "orca-tui[local]"
   orca-tui model add builtin
   ```
   `orca-tui model list` 列出更大、也会中文的模型。

> 密钥只留在你的配置或环境变量里，不会进入日志、数据库或导出文件。
""",
    """仍然是演示，这是最后一页：回复可以长什么样。

- 列表，可以带 `代码`、**加粗**和*斜体*
- [x] 已完成和 [ ] 未完成的任务

```python
def remember(fact: str) -> str:
    return f"我会记住：{fact}"
```

按 **F1** 或输入 `/help` 查看所有按键和命令。配置模型请看上一页，\
或者运行 `orca-tui doctor`：它会说明这里什么能用、什么不能用、该怎么办。
""",
)


def reply_for(turn: int, language: Literal["zh", "en"]) -> str:
    """The page for the `turn`-th message (1 is the first); the last page from then on."""
    pages = _CHINESE if language == "zh" else _ENGLISH
    return pages[min(max(turn, 1), len(pages)) - 1]
