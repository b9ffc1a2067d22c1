"""Code gets its colours line by line, the last line, too."""

from orca_tui.render.colouring import highlight


def test_a_comment_on_the_last_line_has_its_colour() -> None:
    lines = highlight("let a = 1; // one\nlet b = 2; // two", "rust")
    assert lines is not None
    assert len(lines) == 2
    assert lines[0][-1].style == lines[1][-1].style


def test_no_line_comes_to_it_or_goes() -> None:
    for code in ("", "x", "x\n", "x\n\n", "\nx"):
        lines = highlight(code, "python")
        assert lines is not None
        assert len(lines) == code.count("\n") + 1
