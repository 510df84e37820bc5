"""Markdown with positions."""

from __future__ import annotations

from veomni_opslint.markdown import Code, Fence, Paragraph, Table, read_markdown

TEXT = """\
# One `a`

Text `b` (not `c`
and ``d ` e``)
- item `f`

## Two ##
Lead:
| Field | Values |
|---|:-:|
| `g` | `h`, `i` (`j`) \\| `k \\| l` |
 no bar ends it
<!-- a comment `m`
| x | --> | y |

1. step
   ```python
   n = "`"
   ```

| not | a table |
~~~
open to the end
"""


def test_blocks() -> None:
    """Every block comes with its headings, its lines and its code spans."""
    found = []
    for block in read_markdown("a.md", TEXT.encode()).blocks:
        below = [heading.text.text for heading in block.headings]
        if isinstance(block, Table):
            found.append(("table", below, [[cell.text for cell in row] for row in (block.header, *block.rows)]))
        elif isinstance(block, Fence):
            found.append((block.language, below, [str(block.line), *block.lines]))
        elif isinstance(block, Paragraph):
            found.append(("text", below, [str(block.text.line), block.text.text]))
    assert found == [
        ("text", ["One `a`"], ["1", "One `a`"]),
        ("text", ["One `a`"], ["3", "Text `b` (not `c`\nand ``d ` e``)"]),
        ("text", ["One `a`"], ["5", "- item `f`"]),
        ("text", ["One `a`", "Two"], ["7", "Two"]),
        ("text", ["One `a`", "Two"], ["8", "Lead:"]),
        ("table", ["One `a`", "Two"], [["Field", "Values"], ["`g`", "`h`, `i` (`j`) \\| `k \\| l`"]]),
        ("text", ["One `a`", "Two"], ["12", " no bar ends it"]),
        ("text", ["One `a`", "Two"], ["14", "          | y |"]),
        ("text", ["One `a`", "Two"], ["16", "1. step"]),
        ("python", ["One `a`", "Two"], ["18", '   n = "`"']),
        ("text", ["One `a`", "Two"], ["21", "| not | a table |"]),
        ("", ["One `a`", "Two"], ["23", "open to the end", ""]),
    ]


def test_code_spans() -> None:
    """A span knows its place and whether it stands in parentheses."""
    blocks = read_markdown("a.md", TEXT.encode()).blocks
    paragraph = next(block for block in blocks if isinstance(block, Paragraph) and block.text.line == 3)
    table = next(block for block in blocks if isinstance(block, Table))
    assert paragraph.text.codes == (Code("b", 3, 6, False), Code("c", 3, 15, True), Code("d ` e", 4, 5, True))
    assert table.rows[0][1].codes == (
        Code("h", 11, 9, False),
        Code("i", 11, 14, False),
        Code("j", 11, 19, True),
        Code("k | l", 11, 27, False),
    )
    assert table.rows[0][0].plain == "g"
