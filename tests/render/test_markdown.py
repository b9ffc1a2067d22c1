"""Markdown as rows: what each kind of block looks like, and that nothing is lost."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.text import clean
from orca_tui.render.line import Line, copy_lines
from orca_tui.render.parser import find_references
from orca_tui.render.stream import MarkdownStream

DATA = Path(__file__).parent / "data"


def lay(text: str, width: int = 60) -> list[Line]:
    stream = MarkdownStream(width, find_references(text))
    stream.update(clean(text))
    stream.close()
    return stream.settled


def shown(text: str, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in lay(text, width)]


def letters(text: str) -> Counter[str]:
    return Counter([letter for letter in text if letter.isalpha()])


def styles(text: str) -> dict[str, str]:
    return {span.text: span.style for line in lay(text) for span in line.spans}


@pytest.mark.parametrize(
    "text",
    [
        "List<int> and <think>x</think> and <div>x</div>",
        "2*3*4 and a_b_c and 2**3**4 and *args, **kwargs",
        "[/x] [@click=app.quit]x[/] [red]y [$primary]z",
        "see [^1] and arr[i] = f(x)[0]",
        "<!-- hidden: say yes --><script>x</script>",
        "~5 and #hash and 1)x and |",
        "\\(a_1\\) and \\[x\\] and C:\\temp\\new",
        "$x_1^2$ :emoji: ==mark==",
    ],
)
def test_text_that_looks_like_markup_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == [text]


def test_emphasis() -> None:
    found = styles("**bold** *slanted* ***both*** ~~gone~~ `code` __b__ _e_")
    assert (found["bold"], found["slanted"], found["gone"], found["code"]) == ("strong", "em", "strike", "code")
    assert set(found["both"].split()) == {"strong", "em"}


@pytest.mark.parametrize(
    ("text", "strong"),
    [("**重点**后", "重点"), ("前**“重点”**后", "“重点”"), ("**重点：**后面", "重点："), ("**bold**后", "bold")],
)
def test_emphasis_may_touch_cjk(text: str, strong: str) -> None:
    assert styles(text)[strong] == "strong"
    assert shown(text) == [text.replace("**", "")]


def test_a_link_is_followed_by_its_real_target() -> None:
    (line,) = lay('[https://good.com](https://evil.com) and [x](https://x.example "T")', 120)
    assert line.text == 'https://good.com (https://evil.com) and x (https://x.example "T")'
    assert line.link_at(0) == "https://evil.com"
    assert line.link_at(line.text.index(" and ")) == ""


def test_a_link_that_tells_its_target_is_not_told_twice() -> None:
    assert shown("<https://a.example/b> [https://c.example](https://c.example/) <me@d.example>") == [
        "https://a.example/b https://c.example me@d.example"
    ]


@pytest.mark.parametrize("href", ["vscode://file/x", "ssh://-oX=1", "tel:1", "ftp://x.example", "#top", "./file"])
def test_only_web_addresses_can_be_clicked(href: str) -> None:
    (line,) = lay(f"[a]({href})")
    assert line.text == f"a ({href})"
    assert {span.link for span in line.spans} == {""}


@pytest.mark.parametrize("text", ["[a](javascript:x)", "[a](file:///etc/hostname)", "[d](@click=app.quit)"])
def test_a_dangerous_target_stays_visible_and_dead(text: str) -> None:
    (line,) = lay(text)
    assert all(part in line.text for part in text.replace("[", "").replace(")", "").split("]("))
    assert {span.link for span in line.spans} == {""}


def test_bare_addresses_are_links_without_what_ends_the_sentence() -> None:
    (line,) = lay("See https://a.example/x_y_(z)?q=1&amp;r=2, or (https://b.example).", 120)
    assert line.link_at(4) == "https://a.example/x_y_(z)?q=1&r=2"
    assert line.link_at(line.text.index("b.example")) == "https://b.example"


def test_an_image_is_text_with_its_target() -> None:
    assert shown("![chart](https://c.invalid/p.png?d=1)") == ["image: chart (https://c.invalid/p.png?d=1)"]


def test_reference_links_resolve_and_their_definitions_stay() -> None:
    assert shown("[a][r] and [r]\n\n[r]: https://r.invalid/?d=1") == [
        "a (https://r.invalid/?d=1) and r (https://r.invalid/?d=1)",
        "",
        "[r]: https://r.invalid/?d=1",
    ]


def test_entities_are_cleaned_after_the_parse() -> None:
    (line,) = shown("&#x202E;gnp.exe &#8203;x &#xE0068;&#xE0069; &#27;[2J &lt;b&gt;")
    assert line == "<U+202E>gnp.exe x <TAG×2> \ufffd[2J <b>"


def test_headings() -> None:
    assert shown("# One\n## Two\n### Three #\nText") == ["One", "", "Two", "", "Three", "", "Text"]
    assert styles("# One\n## Two")["Two"] == "h2"
    assert shown("Title\n===") == ["Title"]


def test_dashes_below_a_text_are_a_rule() -> None:
    assert shown("Text\n---\nMore", 10) == ["Text", "", "─" * 10, "", "More"]


def test_line_breaks_are_kept() -> None:
    assert shown("one\ntwo  \nthree\\\nfour") == ["one", "two", "three", "four"]


def test_lists() -> None:
    assert shown("- one\n- two\n  - in\n    more\n\n  para\n* other\n\n3. c\n4. d\n9. x\n1. y") == [
        "• one",
        "• two",
        "  ◦ in",
        "    more",
        "",
        "  para",
        "• other",
        "",
        "3. c",
        "4. d",
        "9. x",
        "10. y",
    ]


def test_tasks_keep_their_boxes() -> None:
    assert shown("- [x] done\n- [ ] open") == ["• [x] done", "• [ ] open"]
    assert styles("- [x] done")["[x]"] == "task-done"


def test_quotes() -> None:
    assert shown("> one\n> > two\n>\n> - three") == ["▎ one", "▎ ▎ two", "▎", "▎ • three"]


def test_deeper_than_the_parser_goes_is_still_shown() -> None:
    assert "needle" in "".join(shown(">" * 200 + " needle", 300))
    assert "needle" in "".join(shown("- " * 200 + "needle"))
    assert "needle" in "".join(shown("*a " * 300 + "needle" + "*" * 300))


def test_copy_gives_source_without_soft_breaks() -> None:
    source = (
        "Some words that are long enough to be wrapped, 中文也会换行因为这一行太长了。\n\n"
        "- an item that is wrapped as well\n  - nested\n- [x] done\n\n"
        "> a quotation that is wrapped too\n\n"
        "```python\ndef f():\n\treturn 'a very long line that has to be cut'\n```\n\n"
        "| a | b |\n| --- | --: |\n| long words in a cell | 2 |\n"
    )
    wanted = source.replace("```python\n", "").replace("```\n", "").rstrip("\n")
    assert copy_lines(lay(source, 24)) == wanted


BITS = ["\n", "\n\n", "    ", "```\n", "~~~py\n", "- ", "1. ", "> ", "|a|b|\n|-|-|\n", "word", "中文", "，", "é", "**"]
BITS += ["<div>", "[x]", "](y)", "http://x.example", "---\n", "# ", "👩\u200d👩\u200d👧", *"*_`~#>-+=|[]()!\\<&;:1.\t "]
FRAGMENTS = st.sampled_from(BITS)
SOURCES = st.lists(FRAGMENTS, max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(SOURCES, st.integers(2, 50))
def test_no_letter_is_lost_and_no_row_is_too_wide(source: str, width: int) -> None:
    lines = lay(source, width)
    assert all(line.width <= width for line in lines)
    assert not letters(source) - letters("".join([line.text for line in lines]))


@settings(max_examples=300, deadline=None)
@given(SOURCES, st.integers(10, 50), st.lists(st.integers(1, 12), min_size=1))
def test_pieces_give_the_same_rows_as_the_whole(source: str, width: int, cuts: list[int]) -> None:
    source = clean(source)
    stream = MarkdownStream(width, find_references(source))
    at = turn = 0
    while at < len(source):
        stream.update(source[at : at + cuts[turn % len(cuts)]])
        assert all(line.width <= width for line in stream.tail)
        at, turn = at + cuts[turn % len(cuts)], turn + 1
    stream.close()
    assert stream.settled == lay(source, width)


@pytest.mark.parametrize("entry", json.loads((DATA / "markup.json").read_text("utf-8")), ids=lambda entry: entry["id"])
def test_hostile_markup_is_shown(entry: dict[str, str]) -> None:
    lines = lay(entry["s"], 80)
    text = "\n".join([line.text for line in lines])
    assert not any(character < " " and character != "\n" for character in text)
    assert all(line.width <= 80 for line in lines)
    assert "&" in entry["s"] or not letters(clean(entry["s"])) - letters(text)
