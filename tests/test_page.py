"""Pages of rules as a terminal shows them."""

from __future__ import annotations

import re

import pytest

from veomni_opslint.cli.page import for_terminal
from veomni_opslint.reporters import Presentation
from veomni_opslint.rule_loader import LoadedRule, find_rule, load_rules, rule_page

RULE = find_rule("OPS301", load_rules())
PAGE = """\
# OPS301 unregistered-slot

A slot that no kernel is registered for.

## Why

Building the model raises `KeyError: "the op"`, where a word is put so that the line has to be broken:

- one
  and a half
- two

## Bad

```python bad path=a.py
x = OpSlot("a", "b")  # OPS301
```

````markdown bad path=docs/a.md
```python
y
```
````

By a helper:

```python bad path=b.py
z
```

## Good

```python good path=a.py
x = OpSlot("a", "c")
```

## Silent near misses

```python silent path=a.py
x = 1
```

## Fix

It is put right.

```python before path=a.py
x
```

```python after path=a.py
y
```

And so on.

## Options

| option | default | meaning |
|---|---|---|
| `folders` | `["a"]` | folders |

    [tool.opslint]
    a = 1

## When to suppress

Never.
"""
SHOWN = """\
OPS301 unregistered-slot
error, with a fix (--fix)

A slot that no kernel is registered for.

Why

Building the model raises `KeyError: "the op"`, where a word
is put so that the line has to be broken:

- one and a half

- two

Bad

    # a.py
    x = OpSlot("a", "b")  # OPS301

    # docs/a.md
    ```python
    y
    ```

Good

    # a.py
    x = OpSlot("a", "c")

Fix

It is put right.

Options

  option   default  meaning
  folders  ["a"]    folders

    [tool.opslint]
    a = 1

When to suppress

Never.

To silence one, a comment on its line: # opslint: ignore[OPS301] the reason
4 more examples, also of what is not reported: opslint explain OPS301 --full
"""
NARROW = Presentation(columns=60)


def test_what_one_wants_first() -> None:
    """One bad and one good example, all else that is said, and how to see the rest."""
    assert for_terminal(PAGE, RULE._replace(fixable=True), NARROW, full=False) == SHOWN


def test_the_whole_page() -> None:
    """Every example and near miss."""
    whole = for_terminal(PAGE, RULE, NARROW, full=True)
    assert "By a helper:\n\n    # b.py\n    z\n\nGood\n" in whole
    assert "Silent near misses\n\n    # a.py\n    x = 1\n\nFix\n\nIt is put right.\n\n    # a.py, before\n" in whole
    assert "--full" not in whole


def test_colour() -> None:
    """Headings are bold, code has a colour instead of its backticks, and what would be reported stands out."""
    shown = for_terminal(PAGE, RULE, Presentation(colour=True, columns=60), full=False)
    assert '    \x1b[36mx = OpSlot("a", "b")  \x1b[0m\x1b[1;31m# OPS301\x1b[0m\n' in shown
    assert '\x1b[36mKeyError: "the op"\x1b[0m' in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert plain == for_terminal(PAGE, RULE, NARROW, full=False).replace('`KeyError: "the op"`', 'KeyError: "the op"')


@pytest.mark.parametrize("loaded", load_rules(), ids=lambda loaded: loaded.rule.code)
def test_every_page(loaded: LoadedRule) -> None:
    """No page has a fence left, and the whole one has each word of it."""
    page = rule_page(loaded)
    short, whole = (for_terminal(page, loaded, NARROW, full=full) for full in (False, True))
    assert [line for line in whole.splitlines() if line.startswith(("```", "## "))] == []
    code = re.sub(r"^(`{3,})\w* .*$|^`{3,}$|^#+ |^\|[-|]+\|$", "", page, flags=re.MULTILINE)
    assert set(re.findall(r"\w+", code)) - set(re.findall(r"\w+", whole)) == set()
    assert set(short.splitlines()) - set(whole.splitlines()) <= {short.splitlines()[-1]}


def test_files_without_comments() -> None:
    """Where a rule is about files that take no comments, another way out is said."""
    for code, way in (
        ("OPS602", "To silence a file: per-file-ignores in the settings"),
        ("OPS301", "a comment on its"),
    ):
        loaded = find_rule(code, load_rules())
        assert way in for_terminal(rule_page(loaded), loaded, NARROW, full=False).splitlines()[-2]
