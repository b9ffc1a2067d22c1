"""English words cut to their stems: Porter's algorithm of 1980, for words of lower-case ASCII letters."""

import re
from functools import lru_cache

_SYLLABLE = re.compile("v+c")
_UNDOUBLED = "lsz"

# Suffix → what stands in its place, where what is left in front of it has a measure above 0 (steps 2, 3) or 1 (step 4).
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    (
        *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
        *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
    ),
    "",
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of an English word; words of one or two letters stay."""
    if len(word) <= 2:
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2, above=0)
    word = _replace(word, _STEP_3, above=0)
    word = _replace(word, _STEP_4, above=1)
    return _final_e_and_l(word)


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    rest = word[:-2] if word.endswith("ed") else word.removesuffix("ing")
    if rest == word or not _has_vowel(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in _UNDOUBLED else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _replace(word: str, rules: dict[str, str], *, above: int) -> str:
    """Only the longest suffix that fits is looked at, whether its condition holds or not."""
    found = max((suffix for suffix in rules if word.endswith(suffix)), key=len, default="")
    front = word[: len(word) - len(found)]
    fits = found and _measure(front) > above and (found != "ion" or front.endswith(("s", "t")))
    return front + rules[found] if fits else word


def _final_e_and_l(word: str) -> str:
    if word.endswith("e"):
        front = word[:-1]
        measure = _measure(front)
        if measure > 1 or (measure == 1 and not _is_short(front)):
            word = front
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """`c` for each consonant and `v` for each vowel; y is a vowel behind a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return len(_SYLLABLE.findall(_shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _is_short(word: str) -> bool:
    """Ends in consonant, vowel, consonant, the last not w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
