"""Words that say nothing about what a text is about: they are indexed, but not searched for beside better ones."""

_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being below between both
but by can could d did didn do does doesn doing don down during each few for from further had has hasn have haven
having he her here hers herself him himself his how i if in into is isn it its itself just ll m may me might more
most must my myself no nor not now of off on once only or other our ours ourselves out over own please re s same
shall she should shouldn so some such t than that the their theirs them themselves then there these they this those
through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn you your yours yourself yourselves
"""
ENGLISH = frozenset(_ENGLISH.split())

CHINESE_CHARACTERS = frozenset(
    "的了着是在和与及或也都就还又很太吗呢吧啊呀哦嗯嘛么这那我你您他她它们把被给对从到为以于而但之其个些什怎哪谁几有没不会能要请让"
)
"""A single character or a pair made of nothing else is passed over."""

KOREAN_PARTICLES = frozenset("은는이가을를의에와과도로")
