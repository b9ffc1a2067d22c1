"""Component classes and colours of the transcript. Colours come from the theme's variables alone."""

PREFIX = "transcript--"

_STYLES = {
    # who speaks
    "user": "background: $user-background;",
    "user-bar": "color: $user-bar;",
    "user-name": "color: $user-bar; text-style: bold;",
    "assistant-bar": "color: $assistant-bar;",
    "assistant-name": "color: $heading; text-style: bold;",
    "tool": "color: $muted;",
    "tool-bar": "color: $assistant-bar;",
    "tool-name": "color: $muted; text-style: bold;",
    "system": "color: $muted;",
    "system-bar": "color: $assistant-bar;",
    "system-name": "color: $muted; text-style: bold;",
    "time": "color: $muted;",
    "fork": "color: $accent; text-style: bold;",
    "note": "color: $warning; text-style: italic;",
    "note-failed": "color: $error; text-style: italic;",
    "fold": "color: $muted;",
    "reasoning": "color: $reasoning; text-style: italic;",
    "reasoning-bar": "color: $faint;",
    # remarks
    "notice": "color: $notice-foreground; background: $notice-background;",
    "notice-border": "color: $muted;",
    "notice-title": "text-style: bold;",
    "notice-hint": "color: $muted;",
    "error": "color: $error-foreground; background: $error-background;",
    "error-border": "color: $error;",
    "error-title": "color: $error; text-style: bold;",
    "error-hint": "text-style: italic;",
    # what one is at
    "cursor": "color: $accent; text-style: bold;",
    "hit": "color: $match-foreground; background: $match-background; text-style: underline;",
    "hit-current": "color: $foreground; background: $background; text-style: bold reverse;",
    "chosen": "text-style: bold reverse;",
    # Markdown
    "strong": "text-style: bold;",
    "em": "text-style: italic;",
    "strike": "text-style: strike;",
    "code": "color: $syntax-string; background: $code-background;",
    "link": "color: $link; text-style: underline;",
    "target": "color: $muted;",
    "h1": "color: $heading; text-style: bold underline;",
    "h2": "color: $heading; text-style: bold;",
    "h3": "color: $heading; text-style: bold italic;",
    "h4": "color: $heading; text-style: italic;",
    "rule": "color: $faint;",
    "quote": "color: $muted;",
    "quote-bar": "color: $quote-bar;",
    "list-sign": "color: $heading;",
    "task-open": "color: $muted;",
    "task-done": "color: $success;",
    "table-header": "color: $heading; text-style: bold;",
    "table-rule": "color: $faint;",
    "code-block": "background: $code-background;",
    "code-label": "color: $muted;",
    "syntax-comment": "color: $syntax-comment; text-style: italic;",
    "syntax-keyword": "color: $syntax-keyword;",
    "syntax-string": "color: $syntax-string;",
    "syntax-number": "color: $syntax-number;",
    "syntax-function": "color: $syntax-function;",
    "syntax-type": "color: $syntax-type;",
    "syntax-removed": "color: $error;",
}

COMPONENTS = {PREFIX + name for name in _STYLES}

CSS = (
    """
Transcript {
    height: 1fr;
    background: $background;
    color: $foreground;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    scrollbar-gutter: stable;
"""
    + "".join([f"    & > .{PREFIX}{name} {{ {style} }}\n" for name, style in _STYLES.items()])
    + "}\n"
)
