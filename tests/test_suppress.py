"""Which findings a comment silences, and which comments are reported as unused."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from support.fake_rules import OTHER, RULES, SHOWN

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract import extract
from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.source import Source
from veomni_opslint.suppress import suppress

PATH = "veomni/x.py"
ALL_CODES = frozenset(loaded.rule.code for loaded in RULES)


class Suppressed(NamedTuple):
    """The findings that are left, and how many are silenced."""

    kept: tuple[Finding, ...]
    silenced: int


def run(text: str, *findings: Finding, selected: frozenset[str] = ALL_CODES) -> Suppressed:
    """What is left of *findings* in a file with *text*."""
    facts = extract(Source(PATH, text), Dialect())
    result = suppress(findings, {PATH: facts}, RULES, {PATH: selected})
    return Suppressed(result.kept, len(result.silenced))


def found(line: int, code: str = "OPS201", path: str = PATH, end_line: int = 0) -> Finding:
    """A finding of one of the two rules that findings come from here."""
    rule = {"OPS201": SHOWN, "OPS301": OTHER}[code].rule
    return rule.finding(Place(path, line, 1, end_line or line, 9), "it is broken")


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "# noqa: OPS201",
        "# noqa:OPS201",
        "# noqa: E501, OPS201",
        "# noqa: OPS301, OPS201",
        "# noqa: OPS2",
        "# noqa: shown-fault",
        "# opslint: ignore[OPS201] the reason",
        "# opslint: ignore[ops201]",
        "# opslint: ignore[shown-fault]",
        "# opslint: ignore[OPS301, shown-fault] the reason",
        "# type: ignore  # opslint: ignore[OPS201]",
        "# opslint: ignore-file[OPS201] the reason",
    ],
)
def test_comment_silences(comment: str) -> None:
    """By code, the beginning of a code or name, for several rules, and beside comments for other tools."""
    finding, other = found(1), found(1, "OPS301")
    silenced = run(f"import torch_npu  {comment}\n", finding, other)
    assert finding not in silenced.kept
    assert silenced.silenced == (1 if other in silenced.kept else 2)
    assert [kept for kept in silenced.kept if kept.code == "OPS002"] == []


@pytest.mark.parametrize(
    "comment",
    ["", "# noqa: E501", "# noqa: OPS301", "# opslint: ignore[OPS301]", "# opslint: ignore", "# opslint ignores it"],
)
def test_comment_does_not_silence(comment: str) -> None:
    """A comment about other rules, or about none, leaves the finding."""
    assert found(1) in run(f"import torch_npu  {comment}\n", found(1)).kept


def test_comment_in_a_string_is_none() -> None:
    """Only comments count."""
    assert run('text = "# noqa: OPS201"\n', found(1)) == Suppressed((found(1),), 0)


STATEMENT = """\
register(
    name,
    factory,
)
other = 1
"""


@pytest.mark.parametrize("line", [1, 2, 3, 4])
@pytest.mark.parametrize("comment_line", [1, 2, 3, 4])
def test_comment_on_any_line_of_the_statement(line: int, comment_line: int) -> None:
    """A statement over several lines takes a comment on any of them, wherever in it the fault is."""
    lines = STATEMENT.splitlines()
    lines[comment_line - 1] += "  # noqa: OPS201"
    assert run("\n".join(lines), found(line), found(5)) == Suppressed((found(5),), 1)


def test_comment_of_a_block_is_about_its_first_line() -> None:
    """A finding about a whole class takes the comment of the class statement, not of any line in the class."""
    text = "class A:  # noqa: OPS201\n    x = 1\n    y = 2\n"
    assert run(text, found(1, end_line=3), found(2)) == Suppressed((found(2),), 1)
    text = "class A:\n    x = 1  # noqa: OPS201\n"
    assert found(1, end_line=2) in run(text, found(1, end_line=2)).kept


def test_ignore_on_its_own_line_is_about_the_next_statement() -> None:
    """A long reason has room above the statement; a noqa there is about its own line only."""
    text = "# opslint: ignore[OPS201] because\n# of this\n\nregister(\n    name,\n)\nother = 1\n"
    assert run(text, found(5), found(7)) == Suppressed((found(7),), 1)
    assert found(4) in run(text.replace("opslint: ignore[OPS201]", "noqa: OPS201"), found(4)).kept


def test_ignore_file_is_about_the_whole_file_and_no_other() -> None:
    """File-wide means that file."""
    text = "a = 1\n# opslint: ignore-file[OPS201] generated\nb = 2\n"
    elsewhere = found(3, path="veomni/y.py")
    assert run(text, found(1), found(3), elsewhere) == Suppressed((elsewhere,), 2)


def unused(line: int, column: int, end: int, message: str) -> Finding:
    """The finding about a suppression."""
    return Finding("OPS002", "unused-suppression", Severity.WARNING, message, Place(PATH, line, column, line, end))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x = 1  # noqa: OPS201\n",
            unused(1, 16, 22, "`OPS201` suppresses nothing here: there is no finding of shown-fault; remove it"),
        ),
        (
            "é = 1  # noqa: OPS201\n",
            unused(1, 16, 22, "`OPS201` suppresses nothing here: there is no finding of shown-fault; remove it"),
        ),
        (
            "# opslint: ignore-file[shown-fault] x\n",
            unused(
                1,
                24,
                35,
                "`shown-fault` suppresses nothing in this file: there is no finding of shown-fault; remove it",
            ),
        ),
        (
            "x = 1  # opslint: ignore[OPS2]\n",
            unused(1, 26, 30, "`OPS2` suppresses nothing here: there is no finding of shown-fault; remove it"),
        ),
        (
            "x = 1  # opslint: ignore[shown-falt]\n",
            unused(1, 26, 36, "`shown-falt` names no rule, so it suppresses nothing; did you mean `shown-fault`?"),
        ),
        (
            "x = 1  # noqa: OPS999\n",
            unused(1, 16, 22, "`OPS999` names no rule, so it suppresses nothing; `opslint rules` lists them"),
        ),
        (
            "x = 1  # opslint: ignore\n",
            unused(
                1,
                8,
                25,
                "`opslint: ignore` names no rule, so it suppresses nothing; write `opslint: ignore[RULE] reason`",
            ),
        ),
        (
            "x = 1  # opslint: ignroe[OPS201] reason\n",
            unused(1, 19, 25, "`opslint: ignroe` is not understood, so it suppresses nothing; did you mean `ignore`?"),
        ),
        (
            "é = 1  # opslint: Ignore_file [OPS201]\n",
            unused(
                1,
                19,
                30,
                "`opslint: Ignore_file` is not understood, so it suppresses nothing; did you mean `ignore-file`?",
            ),
        ),
        (
            "# opslint: disable[OPS201]\n",
            unused(
                1,
                12,
                19,
                "`opslint: disable` is not understood, so it suppresses nothing; write `opslint: ignore[RULE] reason`",
            ),
        ),
    ],
)
def test_unused_comment_is_a_finding(text: str, expected: Finding) -> None:
    """The finding is at the word that is wrong."""
    assert run(text) == Suppressed((expected,), 0)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "x = 1  # noqa: F401, N806\n",
        "x = 1  # opslint: ignore[OPS002] rare\n",
        "x = 1  # opslint: see the table[0]\n",
        "x = 1  # opslint[1] is a list\n",
    ],
)
def test_comments_that_are_never_unused(text: str) -> None:
    """A bare noqa and the codes of other tools are not ours; a comment about OPS002 itself may wait."""
    assert run(text) == Suppressed((), 0)


@pytest.mark.parametrize(
    ("word", "findings", "hint"),
    [
        ("OPS310", (), "`opslint rules` lists them"),
        ("OPS310", (found(1, "OPS301"),), "did you mean `OPS301`?"),
        ("OPS310", (found(2, "OPS301"),), "`opslint rules` lists them"),
        ("OPS999", (found(1, "OPS301"),), "`opslint rules` lists them"),
    ],
)
def test_word_meant_for_a_finding_of_the_line(word: str, findings: tuple[Finding, ...], hint: str) -> None:
    """What is near to a rule that reports on the line was meant for that, also a code, of which all are alike."""
    message = f"`{word}` names no rule, so it suppresses nothing; {hint}"
    kept = run(f"x = 1  # opslint: ignore[{word}]\ny = 2\n", *findings).kept
    assert kept == (*findings, unused(1, 26, 32, message))


def test_half_used_comment() -> None:
    """Of several rules in one comment, those without a finding are reported."""
    left = run("x = 1  # noqa: OPS201, OPS301\n", found(1))
    assert [(finding.code, finding.place.column) for finding in left.kept] == [("OPS002", 24)]
    assert left.silenced == 1


def test_rule_that_did_not_run_is_not_unused() -> None:
    """A run of some rules says nothing about comments for the others."""
    assert run("x = 1  # noqa: OPS201\n", selected=frozenset({"OPS002", "OPS301"})) == Suppressed((), 0)
    assert run("x = 1  # noqa: OPS999\n", selected=frozenset({"OPS201"})) == Suppressed((), 0)


def test_unused_comment_can_be_silenced() -> None:
    """`OPS002` in the same comment keeps it."""
    assert run("x = 1  # opslint: ignore[OPS201, OPS002] rare\n") == Suppressed((), 1)


def test_comments_of_a_broken_file_are_left_alone() -> None:
    """In a file that could not be parsed no rule could find what the comment is about."""
    assert run("def f(:  # noqa: OPS201\n") == Suppressed((), 0)


BLOCK = '''\
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    slot = OpSlot("rms_norm", "lost")  # noqa: OPS201
    other = OpSlot("rms_norm", "lost")
    """
)
'''


def test_comment_in_embedded_code() -> None:
    """In code that patch generation inserts a comment is about its own line; one around it about the whole block."""
    assert run(BLOCK, found(5), found(6)) == Suppressed((found(6),), 1)
    expected = "`OPS201` suppresses nothing here: there is no finding of shown-fault; remove it"
    assert run(BLOCK) == Suppressed((unused(5, 48, 54, expected),), 0)
    around = BLOCK.replace("  # noqa: OPS201", "").replace("block(", "block(  # opslint: ignore[OPS201] old generation")
    assert run(around, found(5), found(6)) == Suppressed((), 2)
