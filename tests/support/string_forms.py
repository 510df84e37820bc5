"""Random ways to write a given text as a string expression, with the place that each character is written at."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

HOLE = "zz"
"""Where a text has this, f-strings may have a hole with the name KNOWN."""
_SHORT = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", "'": "\\'", '"': '\\"', "\x0c": "\\f"}
_GAPS = [" ", "  ", "\n    ", "  # ü 'x'\n\t", " \\\n", '\n# "🙂\n\n  ']


@dataclass
class StringForms:
    """Writes a Python file that gives a text to ``config.add_post_import_block``."""

    random: random.Random
    text: str
    parts: list[str] = field(default_factory=list)
    offset: int = 0
    places: list[tuple[int, int]] = field(default_factory=list)
    """For each character of the text its offset in the file and how many characters of the file it takes."""

    def file(self) -> str:
        """The content of the file."""
        self.raw(self.choice(["", "# ü\n", "'''é\n🙂'''\n"]))
        self.raw(f"KNOWN = {HOLE!r}\n")
        name = self.choice(["", "", "BLOCK", "bröck"])
        if name:
            self.raw(f"{name} = (")
            self.expression(self.text, 0)
            self.raw(")\n")
        self.raw(
            self.choice(["", "é = '🙂'; "]) + "config.add_post_import_block(" + self.choice(["", "block=", "\n\n"])
        )
        if name:
            self.raw(name)
        else:
            self.expression(self.text, 0)
        self.raw(self.choice([")\n", ",\n)\n", "  # c\n)\n"]))
        return "".join(self.parts)

    def choice(self, options: list[str]) -> str:
        return self.random.choice(options)

    def raw(self, source: str) -> None:
        """Write what stands for no character of the text."""
        self.parts.append(source)
        self.offset += len(source)

    def character(self, source: str, count: int = 1) -> None:
        """Write what stands for the next character of the text, or for several."""
        self.places.extend([(self.offset, len(source))] * count)
        self.raw(source)

    def expression(self, text: str, depth: int) -> None:
        """Write an expression for a part of the text; text operations keep all that is not space at an end."""
        forms: list[Callable[[str, int], None]] = [self.literal, self.concatenation]
        if depth < 3:
            forms += [self.parenthesised, self.addition, self.walrus]
            if depth == 0:
                forms += [self.dedented, self.dedented, self.stripped, self.joined]
        self.random.choice(forms)(text, depth + 1)

    def dedented(self, text: str, depth: int) -> None:
        self.raw(self.choice(["textwrap.dedent(", "dedent(", "inspect.cleandoc(", "cleandoc("]) + self.choice(_GAPS))
        self.expression(text, depth)
        self.raw(")")

    def stripped(self, text: str, depth: int) -> None:
        self.raw("(")
        self.expression(text, depth)
        self.raw(self.choice([").strip()", ").rstrip()", ").lstrip()", ').lstrip("\\n")', ").rstrip(None)"]))

    def joined(self, text: str, depth: int) -> None:
        start, end = self.choice(["[]", "()"])
        self.raw(f'"\\n".join({start}')
        for index, line in enumerate(text.split("\n")):
            if index:
                self.places.append((-1, 0))
            self.expression(line, depth)
            self.raw("," + self.choice(_GAPS))
        self.raw(f"{end})")

    def parenthesised(self, text: str, depth: int) -> None:
        self.raw("(" + self.choice(_GAPS))
        self.expression(text, depth)
        self.raw(self.choice(_GAPS) + ")")

    def walrus(self, text: str, depth: int) -> None:
        self.raw(f"(w{self.offset} := ")
        self.expression(text, depth)
        self.raw(")")

    def addition(self, text: str, depth: int) -> None:
        for index, piece in enumerate(self.pieces(text)):
            self.raw((self.choice(_GAPS) + "+" + self.choice(_GAPS) if index else "") + "(")
            self.expression(piece, depth)
            self.raw(")")

    def concatenation(self, text: str, depth: int = 0) -> None:
        for index, piece in enumerate(self.pieces(text)):
            self.raw(self.choice(_GAPS) if index else "")
            self.literal(piece, depth)

    def pieces(self, text: str) -> list[str]:
        cuts = sorted(self.random.randint(0, len(text)) for _ in range(self.random.randint(1, 4)))
        return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def literal(self, text: str, depth: int) -> None:
        quote = self.choice(['"', "'", '"""', "'''", '"""', "'''"])
        prefix = self.choice(["", "", "f", "F", "u", "r", "R", "rf", "fR"])
        if "r" in prefix.lower() and not _fits_raw(text, quote):
            prefix = "f" if "f" in prefix.lower() else ""
        self.raw(prefix + quote)
        index = 0
        while index < len(text):
            if "f" in prefix.lower() and text.startswith(HOLE, index) and self.random.random() < 0.6:
                self.character(self.choice(["{KNOWN}", "{ KNOWN }", "{KNOWN!s}"]), len(HOLE))
                index += len(HOLE)
                continue
            self.one(text, index, prefix.lower(), quote)
            index += 1
        self.raw(quote)

    def one(self, text: str, index: int, prefix: str, quote: str) -> None:
        character = text[index]
        if "f" in prefix and character in "{}":
            self.character(character * 2)
        elif "r" in prefix:
            self.character(character)
        else:
            if self.random.random() < 0.02:
                self.raw("\\\n")
            must = character == "\\" or (character == "\n" and len(quote) == 1) or character == quote[0]
            may = self.random.random() < 0.05
            self.character(self.escaped(character) if must or may else character)

    def escaped(self, character: str) -> str:
        code = ord(character)
        forms = [f"\\U{code:08x}"]
        if character in _SHORT:
            forms += [_SHORT[character]] * 4
        if code < 0x10000:
            forms.append(f"\\u{code:04X}")
        if code < 0x100:
            forms += [f"\\x{code:02x}", f"\\{code:03o}"]
        if unicodedata.name(character, ""):
            forms.append(f"\\N{{{unicodedata.name(character)}}}")
        return self.choice(forms)


def _fits_raw(text: str, quote: str) -> bool:
    """Whether a raw literal can say the text."""
    return quote[0] not in text and not text.endswith("\\") and (len(quote) == 3 or "\n" not in text)
