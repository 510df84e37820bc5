"""Names that statements assign, and what handlers catch."""

from __future__ import annotations

import ast

import pytest

from veomni_opslint.extract.scope_state import IMPORT_ERRORS, USE_ERRORS, catches, names_assigned


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = b", "a"),
        ("a = b = c", "ab"),
        ("a, (b, *c) = d", "abc"),
        ("a: int = 1", "a"),
        ("a += 1", "a"),
        ("a.b = c[0] = 1", ""),
        ("for a, b in c:\n    d = 1\nelse:\n    e = 1", "abde"),
        ("async def f():\n    async for a in b: pass", ""),
        ("with a as b, c as (d, e): f = 1", "bdef"),
        ("if a:\n    b = 1\nelif c:\n    d = 1\nelse:\n    e = 1", "bde"),
        ("if (a := b): c = 1", "ac"),
        ("while (a := b): pass", "a"),
        ("try:\n    a = 1\nexcept E:\n    b = 1\nelse:\n    c = 1\nfinally:\n    d = 1", "abcd"),
        ("match a:\n    case b:\n        c = 1", "c"),
        ("def f():\n    a = 1", ""),
        ("class C:\n    a = 1", ""),
        ("print(a)", ""),
    ],
)
def test_names_assigned(text: str, names: str) -> None:
    """Plain names, also in nested statements, but not in nested functions and classes."""
    assert names_assigned(ast.parse(text).body) == set(names)


@pytest.mark.parametrize(
    ("handler", "imports", "uses"),
    [
        ("except: pass", True, True),
        ("except Exception: pass", True, True),
        ("except BaseException as e: pass", True, True),
        ("except ImportError: pass", True, True),
        ("except (KeyError, ModuleNotFoundError): pass", True, True),
        ("except builtins.ImportError: pass", True, True),
        ("except AttributeError: pass", False, True),
        ("except (NameError, RuntimeError): pass", False, True),
        ("except KeyError: pass", False, False),
        ("except ERRORS: pass", False, False),
        ("except ImportError: raise", False, False),
        ("except ImportError:\n    x = 1\n    raise E", False, False),
    ],
)
def test_catches(handler: str, imports: bool, uses: bool) -> None:
    """A handler that ends in a raise lets nothing go on."""
    statement = ast.parse(f"try: pass\n{handler}").body[0]
    assert isinstance(statement, ast.Try)
    assert catches(statement.handlers[0], IMPORT_ERRORS) is imports
    assert catches(statement.handlers[0], USE_ERRORS) is uses
