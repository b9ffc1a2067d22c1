"""The patterns behind `extract_rules`: what single English and Chinese clauses say of the one who typed them.

Data more than code. A rule matches from the beginning of a clause; the first that matches decides.
"""

import re
from dataclasses import dataclass

from memory.types import MemoryType


@dataclass(frozen=True, slots=True)
class Rule:
    """What a clause that `pattern` matches is."""

    pattern: re.Pattern[str]
    memory_type: MemoryType
    importance: float = 0.5
    topic_key: str | None = None
    """`{noun}` in it stands for what the clause names: `favorite_{noun}`."""


def _rule(pattern: str, memory_type: MemoryType, importance: float = 0.5, topic_key: str | None = None) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), memory_type, importance, topic_key)


_OFTEN = r"(?:really |absolutely |also |usually |strongly |personally |still |now |just |currently |mainly |mostly )*"
_THIS = r"(?!(?:it|this|that|these|those|how|your|you|what|the (?:idea|way|answer|first|second|latter|former))\b)"
_ZH_OFTEN = r"(?:很|最|非常|特别|比较|更|真的|真|也|还|都|其实|一直|从来|平时|一般|通常|主要|现在|目前|已经)*"
_ZH_THIS = r"(?!这|那|它|你|什么|哪)"
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
_DAY += r"|october|november|december)"
_KIN = r"(?:wife|husband|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|boss|dog|cat|team|company)"
_ZH_KIN = r"(?:老婆|妻子|老公|丈夫|儿子|女儿|妈妈|爸爸|母亲|父亲|哥哥|姐姐|弟弟|妹妹|老板|公司|团队|狗|猫)"
_NO_FACT = r"(?!(?:question|problem|issue|guess|point|code|error|goal|plan|idea|concern|bad|next|last|first|answer)\b)"

RULES = (
    _rule(r"(?:my name(?: is|'s)|call me|i go by|i am called) \S", "fact", 0.8, "user_name"),
    _rule(
        r"我(?:的名字)?叫(?!他|她|它|你|了|人|车|外卖|做)|我的名字是|(?:请|以后)?叫我|我姓", "fact", 0.8, "user_name"
    ),
    _rule(r"i(?:'m| am)? (?:now |currently )?(?:live|living|based|reside) in \S", "fact", 0.7, "home_city"),
    _rule(
        r"i(?:'ve| have)? (?:just |recently |now )?moved (?:from \S+ )?to (?!the |a |an |using |another )\S",
        "fact",
        0.7,
        "home_city",
    ),
    _rule(r"我(?:现在|目前|一直|最近|刚刚?|已经)*(?:住在|定居|搬到|搬去|搬家到|家在)", "fact", 0.7, "home_city"),
    _rule(r"i(?:'m| am)? (?:now |currently )?work(?:ing)? (?:at|for) \S", "fact", 0.6, "workplace"),
    _rule(r"我(?:现在|目前|一直)*在.{1,20}(?:工作|上班|任职)", "fact", 0.6, "workplace"),
    _rule(r"my (?:birthday|date of birth|time ?zone|email(?: address)?) is \S", "fact", 0.7, "{noun}"),
    _rule(r"我的?(?:生日|时区|邮箱)(?:是|在)", "fact", 0.7, "{noun}"),
    _rule(r"(?:please )?(?:from now on|in (?:the )?future|going forward)\b|.*\bfrom now on$", "constraint", 0.9),
    _rule(r"(?:please )?(?:always|never|don't ever|do not ever) \w+", "constraint", 0.8),
    _rule(r"(?:请|麻烦)?(?:你)?(?:以后|今后|往后|从现在起|从今以后|从现在开始)", "constraint", 0.9),
    _rule(r"(?:请)?(?:你)?(?:永远|始终|总是|务必|一律|不要再|别再)", "constraint", 0.8),
    _rule(
        r"(?:i|we)(?:'ve| have)? (?:just |finally |now |already )*(?:decided|chose|chosen|settled on|opted)\b",
        "decision",
        0.7,
    ),
    _rule(r"(?:let's|we(?:'ll| will)|i(?:'ll| will)) go with " + _THIS, "decision", 0.7),
    _rule(r"(?:我|我们|咱们)(?:已经|最终|最后|刚刚?|最近|还是)*(?:决定|选定|选择了|敲定|定下)", "decision", 0.7),
    _rule(r"my favou?rite \w+(?: \w+)? (?:is|are) \S", "preference", 0.6, "favorite_{noun}"),
    _rule(
        rf"i (?:{_OFTEN}(?:like|love|prefer|enjoy|hate|dislike|adore|avoid)|can't stand"
        rf"|{_OFTEN}(?:don't|do not|never) (?:really )?(?:like|enjoy|eat|drink|want|use)) {_THIS}\S",
        "preference",
        0.6,
    ),
    _rule(r"i (?:always|never|usually|mostly|generally) (?!mind)\w+ \S", "preference", 0.6),
    _rule(
        rf"我{_ZH_OFTEN}(?:喜欢|爱(?!好)|偏好|偏爱|习惯|讨厌|不喜欢|不太喜欢|不爱|不吃|不喝|不能吃|不能喝|受不了|倾向|更想)"
        rf"{_ZH_THIS}|我对.{{1,10}}过敏",
        "preference",
        0.6,
    ),
    _rule(r"i(?:'m| am) (?:working on|building|writing|developing|designing) (?:a|an|my|our|the) ", "project", 0.6),
    _rule(r"(?:my|our) (?:current |new |main )?project ", "project", 0.6),
    _rule(r"我(?:们)?(?:现在|目前|最近|正)*在(?:做|开发|写|搭建|负责|研究|准备)(?:一|个|我|公司|毕业)", "project", 0.6),
    _rule(r"i (?:can|know how to) (?:speak|write|play|code|program|cook|drive)\b|i speak [a-z]", "skill", 0.5),
    _rule(r"i(?:'m| am|'ve been| have been) learning \S", "skill", 0.5),
    _rule(r"我(?:会(?:说|写|弹|用|开|编程)|擅长|精通|熟悉|(?:正)?在学)", "skill", 0.5),
    _rule(
        r"(?:i|we)(?:'m| am|'re| are| have|'ll| will)\b.*\b"
        rf"(?:tomorrow|next (?:week|month|year)|(?:on|next|in) {_DAY})",
        "event",
        0.5,
    ),
    _rule(r"我(?:们)?(?:明天|后天|下周|下个?月|明年|周[一二三四五六日天]|星期)\S*(?:要|有|去|会)", "event", 0.5),
    _rule(r"i(?:'m| am) (?!a (?:bit|little|lot)\b)an? \w+", "fact", 0.6),
    _rule(
        r"i(?:'m| am) (?:vegan|vegetarian|allergic|diabetic|colou?r-?blind|left-handed|married|divorced|retired|deaf"
        r"|blind|from \S|\d+ years old|lactose|gluten)",
        "fact",
        0.7,
    ),
    _rule(
        rf"i(?: {_OFTEN}use| switched to|'ve switched to| have switched to| work (?:as|in|on|with|from)| own| drive"
        rf"| study| graduated) {_THIS}\S",
        "fact",
    ),
    _rule(rf"i have (?:an?|two|three|four|\d+) (?:\w+ )?(?:{_KIN}s?|kids?|child(?:ren)?|allergy|car|house)\b", "fact"),
    _rule(rf"my {_KIN}(?:'s \w+)? (?:is|are|was|has|lives|works|likes|loves|hates) \S", "fact"),
    _rule(rf"my {_NO_FACT}\w+(?: \w+)? (?:is|are) (?!not working|broken)\S", "fact", 0.4),
    _rule(rf"我{_ZH_OFTEN}(?:用的?是|使用|用|养了?|有[一两二三四几\d]|毕业于){_ZH_THIS}", "fact"),
    _rule(r"我是(?:一?[名个位]|.{1,12}(?:人|师|员|生|家|者|医|民)$)|我今年.{1,4}岁|我来自", "fact", 0.6),
    _rule(rf"我的?{_ZH_KIN}.{{0,6}}(?:是|叫|喜欢|不喜欢|在|有)|我的[^，,的]{{1,8}}(?:是|叫)(?!什么)", "fact"),
)

FILLER = re.compile(
    r"(?:(?:hi|hello|hey|well|so|actually|also|btw|by the way|fyi|note that|just so you know|ok|okay|anyway|and|but)\b"
    r"[,:!]?\s+|(?:你好|对了|顺便说一?下?|另外|其实|还有|那个|嗯)[，,：: ]*)+",
    re.IGNORECASE,
)
"""What may stand before a statement."""
CLAUSES = re.compile(
    r",\s+(?=i\b|i'|my\b|please\b)|,?\s+(?:and|but)\s+(?=i\b|i'|my\b|please\b)|;\s+"
    r"|[，,；]\s*(?=我|以后|今后|请|记住|别忘)",
    re.IGNORECASE,
)
"""Where a sentence goes on with another statement of the user."""
ZH_NO_SUBJECT = re.compile(
    r"[，,]\s*(?=(?:也|还|很|最)?(?:不?喜欢|讨厌|住在|在.{1,20}(?:工作|上班)|不吃|不喝|习惯|正在))"
)
"""Where a Chinese sentence goes on about the user without saying so again."""
QUESTION = re.compile(
    r"[?？]\s*$|(?:吗|呢|么)[。！!]?$"
    r"|^(?:who|what|when|where|why|how|which|do|does|did|can|could|should|would|is|are|am|was|will)\b",
    re.IGNORECASE,
)
HYPOTHESIS = re.compile(
    r"^(?:if|suppose|imagine|pretend|assume|say|let's say)\b|^(?:假如|如果|假设|要是|假装|想象|比如)", re.IGNORECASE
)
"""Begins what is not meant as a statement."""
TASK = re.compile(
    r"^\s*(?:please |can you |could you )?(?:translate|summari[sz]e|rewrite|proofread|correct|rephrase|paraphrase|write"
    r"|compose|edit|fix|complete|explain|analy[sz]e)\b"
    r"|^\s*(?:请|帮我|麻烦)*(?:把.*)?(?:翻译|总结|改写|润色|写一|续写|解释|分析|校对)",
    re.IGNORECASE,
)
"""Begins a message whose further text is material to work on, not the user speaking."""
ASKS_WITHIN = re.compile(
    r";\s+|[,;]\s+(?=(?:and |so |but )?(?:please )?(?:remember|keep in mind|don't forget|make a note)\b)"
    r"|[，,；]\s*(?=(?:请|帮我|麻烦)*你?(?:帮我)?(?:记住|记一下|记下|别忘|不要忘记|牢记))",
    re.IGNORECASE,
)
"""Where a sentence may go on with a request to remember."""
REMEMBER = re.compile(
    r"(?:please |can you |could you |i want you to |i'd like you to )*"
    r"(?:remember|keep in mind|don't forget|do not forget|memori[sz]e|make a note)"
    r"(?!\s+(?:when|how|what|who|me\b|the time|our))(?: this| that)?[:,]?\s+(?P<en>\S.+)"
    r"|(?:请|帮我|麻烦)*你?(?:帮我)?(?:记住|记一下|记下来?|别忘了?|不要忘记|牢记)(?!了)[：:，, ]*(?P<zh>\S.+)",
    re.IGNORECASE | re.DOTALL,
)
"""A request to remember, with what is to be remembered."""
REMEMBER_IT = re.compile(
    r"(?P<body>.*?)[,;，；]?\s*(?:(?:please |and )*"
    r"(?:remember (?:that|this|it)|keep (?:that|this|it) in mind|don't forget (?:that|this|it))"
    r"|(?:请|帮我)*(?:记住|记一下|别忘了?)(?:这一?点|这个|这件事)?[了哦啊吧]?)[.!。！]*",
    re.IGNORECASE,
)
"""A request to remember what stands before it, in the sentence or in the one before."""
LANGUAGE = re.compile(
    r"\b(?:answer|reply|respond|speak|write|talk)\b.*\bin (?:simple |plain |simplified |traditional )?"
    r"(?:english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|russian|japanese|korean|arabic)\b"
    r"|(?:用|说|讲)\s*(?:简体|繁体)?(?:中文|英文|英语|日语|日文|法语|德语|汉语|韩语|西班牙语)",
    re.IGNORECASE,
)
STYLE = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respond|responses?|explanations?)\b.*"
    r"\b(?:short|brief|briefly|concise|concisely|detailed|long|formal|casual|bullets?)\b"
    r"|\b(?:be|keep it) (?:brief|concise|short)\b|(?:回答|回复|说).{0,8}(?:简短|简洁|详细|简单|正式|精炼|口语)"
    r"|(?:简短|简洁|详细|精炼).{0,4}(?:回答|回复)",
    re.IGNORECASE,
)
NOUN = re.compile(r"my (?:favou?rite )?(?P<en>\w+(?: \w+)?) (?:is|are)\b|我的?(?P<zh>生日|时区|邮箱)", re.IGNORECASE)
NOUN_ZH = {"生日": "birthday", "时区": "time_zone", "邮箱": "email"}
