"""Draws what a Textual app shows as a picture, cell by cell, so that Chinese and emoji stand where a terminal has them.

Needs Pillow (`pip install ".[docs]"`), fontconfig's `fc-match`, and the fonts DejaVu Sans Mono, Noto Sans Mono CJK SC
and Noto Color Emoji.
"""

import subprocess
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from textual.app import App

Pixel = tuple[int, int, int]

MONO = "DejaVu Sans Mono"
HAN = "Noto Sans Mono CJK SC"
EMOJI = "Noto Color Emoji"
EMOJI_SIZE = 109
"""The one size in which the emoji font has its bitmaps."""
INK: Pixel = (222, 222, 222)
PAPER: Pixel = (18, 18, 18)


def picture(app: App[object], height: int = 16) -> Image.Image:
    """What is on the screen of `app`; `height`: pixels of a cell, which is half as wide."""
    app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    columns, rows = app.size
    width = height // 2
    image = Image.new("RGB", (columns * width, rows * height), PAPER)
    draw = ImageDraw.Draw(image)
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, control in strip:
            if control or not text:
                continue
            x += _segment(image, draw, text, style or Style.null(), (x * width, y * height), height)
    return image


def save(image: Image.Image, target: Path, colours: int = 64) -> None:
    """Write an 8-bit PNG."""
    image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(target, optimize=True)


def _segment(
    image: Image.Image, draw: ImageDraw.ImageDraw, text: str, style: Style, at: tuple[int, int], height: int
) -> int:
    """Draw a piece of a line; tells how many cells it takes."""
    ink, paper = _colours(style)
    cells, width = cell_len(text), height // 2
    left, top = at
    draw.rectangle((left, top, left + cells * width - 1, top + height - 1), paper)
    done = 0
    for cluster in _clusters(text):
        wide = cell_len(cluster)
        if cluster.strip():
            _glyph(image, draw, cluster, (left + done * width, top), height, ink, style)
        done += wide
    for line, shown in ((height - 2, style.underline), (height // 2, style.strike)):
        if shown:
            draw.line((left, top + line, left + cells * width - 1, top + line), ink)
    return cells


def _clusters(text: str) -> list[str]:
    """Characters, each with the marks of no width behind it."""
    found: list[str] = []
    for character in text:
        if found and cell_len(character) == 0:
            found[-1] += character
        else:
            found.append(character)
    return found


def _glyph(
    image: Image.Image,
    draw: ImageDraw.ImageDraw,
    text: str,
    at: tuple[int, int],
    height: int,
    ink: Pixel,
    style: Style,
) -> None:
    left, top = at
    if "▀" <= text[0] <= "█" and _block(draw, text[0], at, height, ink):
        return
    wide = cell_len(text) > 1
    if wide and ord(text[0]) >= 0x1F000:
        _emoji(image, text, at, height)
        return
    face = HAN if wide else MONO
    font = _font(face, bool(style.bold), bool(style.italic) and not wide, height)
    if wide:
        draw.text((left + height // 2, top + round(height * 0.82)), text, ink, font, anchor="ms")
    else:
        draw.text((left, top + round(height * 0.79)), text, ink, font, anchor="ls")


def _block(draw: ImageDraw.ImageDraw, character: str, at: tuple[int, int], height: int, ink: Pixel) -> bool:
    """Block elements as exact rectangles, so that bars have no seams."""
    (left, top), width = at, height // 2
    number = ord(character)
    if character == "▀":
        draw.rectangle((left, top, left + width - 1, top + height // 2 - 1), ink)
    elif 0x2581 <= number <= 0x2588:
        risen = round(height * (number - 0x2580) / 8)
        draw.rectangle((left, top + height - risen, left + width - 1, top + height - 1), ink)
    elif 0x2589 <= number <= 0x258F:
        draw.rectangle((left, top, left + max(1, round(width * (0x2590 - number) / 8)) - 1, top + height - 1), ink)
    else:
        return False
    return True


def _emoji(image: Image.Image, text: str, at: tuple[int, int], height: int) -> None:
    font = ImageFont.truetype(_path(EMOJI)[0], EMOJI_SIZE)
    drawn = Image.new("RGBA", (EMOJI_SIZE + 28, EMOJI_SIZE + 28))
    ImageDraw.Draw(drawn).text((0, 0), text[0], font=font, embedded_color=True)
    side = height - 2
    small = drawn.resize((side, side), Image.Resampling.LANCZOS)
    image.paste(small, (at[0] + 1, at[1] + 1), small)


@cache
def _font(face: str, bold: bool, italic: bool, height: int) -> ImageFont.FreeTypeFont:
    """The font in the size in which a cell is half as wide as `height`."""
    style = "".join([":bold" if bold else "", ":italic" if italic else ""])
    path, index = _path(face + style)
    return ImageFont.truetype(path, height * 0.5 / 0.602 if face == MONO else height * 0.92, index=index)


@cache
def _path(name: str) -> tuple[str, int]:
    found = subprocess.run(
        ["fc-match", "-f", "%{file}\n%{index}", name], check=True, capture_output=True, text=True
    ).stdout.split("\n")
    return found[0], int(found[1])


@cache
def _colours(style: Style) -> tuple[Pixel, Pixel]:
    ink = _pixel(style.color, INK)
    paper = _pixel(style.bgcolor, PAPER)
    if style.reverse:
        ink, paper = paper, ink
    if style.dim:
        ink = (ink[0] + paper[0]) // 2, (ink[1] + paper[1]) // 2, (ink[2] + paper[2]) // 2
    return ink, paper


def _pixel(colour: Color | None, default: Pixel) -> Pixel:
    return default if colour is None or colour.is_default else tuple(colour.get_truecolor())
