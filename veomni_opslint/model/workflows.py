"""The workflows of the CI that run tests on an NPU, and which test files their pytest commands run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.yaml_documents import YamlNode, read_yaml

_WORD = re.compile(r"[A-Za-z]+")
_NEVER = re.compile(r"\s*(?:\$\{\{\s*)?(?:false|False|FALSE)(?:\s*\}\})?\s*")
_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_OPAQUE_COMMAND = re.compile(r"\b(?:make|tox|nox|just)\s+\S*test|\b(?:bash|sh|source)\s+\S*test\S*|\./\S*test\S*\.sh")
_PYTEST = frozenset({"pytest", "py.test"})
_WITH_VALUE = re.compile(
    r"-[kmnpcorW]|--(?:ignore|ignore-glob|deselect|junitxml|tb|maxfail|timeout|rootdir|confcutdir|basetemp|durations|dist"
    r"|cov|log-level)"
)
_RUNS_TESTS = re.compile(rb"\bpy\.?test\b|\buses: *\./")


class TestCommand(NamedTuple):
    """One call of pytest. ``opaque``: what it runs cannot be read without running the workflow."""

    line: int
    arguments: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    keyword: str = ""
    opaque: bool = False

    def runs(self, path: str, names: Collection[str] = ()) -> bool:
        """Whether it collects something of the test file *path*, whose tests are called *names*."""
        if self.opaque:
            return True
        if any(_covers(one, path) for one in self.ignored):
            return False
        if self.arguments and not any(_covers(one.partition("::")[0], path) for one in self.arguments):
            return False
        return not self.keyword or any(_selects(self.keyword, (name, path.rpartition("/")[2])) for name in names or "")


class Workflow(NamedTuple):
    """A workflow that runs pytest on an NPU; ``scripts`` is the text of all that it runs, ``text`` that of its file."""

    path: str
    commands: tuple[TestCommand, ...]
    scripts: str
    text: str = ""

    def runs(self, path: str, names: Collection[str] = ()) -> bool:
        """Whether it runs something of a test file, be it by another program than pytest."""
        if any(one.runs(path, names) for one in self.commands):
            return True
        return re.search(rf"(?m)^[^#\n]*\b(?:python3?|torchrun)\b[^#\n]*{re.escape(path)}", self.scripts) is not None

    def line_for(self, path: str) -> int:
        """The line that names a test file, in a command that does not run it or in a comment.

        Without one, that below which a command for it would stand: the last one for its folder, or for one above.
        """
        named = re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w-])", self.text) if path else None
        if named is not None:
            return self.text.count("\n", 0, named.start()) + 1
        own = [one for one in self.commands if one.line] or [TestCommand(1, ())]
        return max(
            own, key=lambda one: (max((_shared(path, argument) for argument in one.arguments), default=0), one.line)
        ).line


def is_test_file(path: str) -> bool:
    """Whether pytest collects a file of this name."""
    return _TEST_FILE.fullmatch(path) is not None


def find_npu_workflows(sources: Mapping[str, bytes], device_words: Collection[str]) -> Iterator[Workflow]:
    """The workflows called after an NPU, with those that they use, as far as they call pytest; by path."""
    for path in sorted(sources):
        if not _names(path.rpartition("/")[2], device_words) or not _RUNS_TESTS.search(sources[path]):
            continue
        commands: list[TestCommand] = []
        scripts: list[str] = []
        pending, seen = [path], set()
        while pending:
            one = pending.pop()
            if one in seen or one not in sources:
                continue
            seen.add(one)
            for line, script in _scripts(one, sources[one], pending):
                scripts.append(script)
                at = line if one == path else 1
                commands += _commands(at, script) if one == path else [_moved(found) for found in _commands(1, script)]
        if commands:
            yield Workflow(path, tuple(commands), "\n".join(scripts), sources[path].decode(errors="replace"))


def _moved(command: TestCommand) -> TestCommand:
    """The command of a workflow that is used: it runs, and is written in another file."""
    return TestCommand(0, command.arguments, command.ignored, command.keyword, command.opaque)


def _names(text: str, words: Collection[str]) -> bool:
    return any(word.lower() in words for word in _WORD.findall(text))


def _scripts(path: str, data: bytes, used: list[str]) -> Iterator[tuple[int, str]]:
    """The scripts of the steps that may run, each with the line on which it begins; *used* gets other workflows."""
    root = read_yaml(path, data).root
    lines = data.decode(errors="replace").split("\n")
    for job in _values(_get(root, "jobs")):
        if _is_off(job):
            continue
        uses = _text(_get(job, "uses"))
        if uses.startswith("./"):
            used.append(uses.removeprefix("./"))
        steps = _get(job, "steps")
        for step in steps.items if steps is not None else ():
            script = _get(step, "run")
            if script is None or _is_off(step):
                continue
            line = script.place.line
            header = lines[line - 1][script.place.column - 1 :] if line <= len(lines) else ""
            yield line + header.startswith(("|", ">")), script.text


def _values(node: YamlNode | None) -> Iterator[YamlNode]:
    for entry in node.entries if node is not None else ():
        yield entry.value


def _get(node: YamlNode | None, key: str) -> YamlNode | None:
    entry = node.entry(key) if node is not None else None
    return entry.value if entry is not None else None


def _text(node: YamlNode | None) -> str:
    return node.text if node is not None else ""


def _is_off(node: YamlNode) -> bool:
    return _NEVER.fullmatch(_text(_get(node, "if"))) is not None


def _commands(first_line: int, script: str) -> Iterator[TestCommand]:
    """The calls of pytest in a script, each with the line on which it begins."""
    lines = script.split("\n")
    number = 0
    while number < len(lines):
        start, written = number, lines[number]
        while written.endswith("\\") and number + 1 < len(lines):
            number += 1
            written = f"{written[:-1]} {lines[number]}"
        number += 1
        for words in _split(written):
            called = next((index for index, word in enumerate(words) if word.rpartition("/")[2] in _PYTEST), None)
            if called is not None and _is_call(words[:called]):
                yield _command(first_line + start, words[called + 1 :])
            elif called is None and _OPAQUE_COMMAND.search(" ".join(words)):
                yield TestCommand(first_line + start, (), opaque=True)


def _is_call(before: list[str]) -> bool:
    """Whether what stands before the word lets it be the program: not ``pip install pytest``, not ``grep pytest``."""
    return not before or not {"install", "add", "grep", "pgrep", "pkill", "echo"} & set(before)


def _split(line: str) -> Iterator[list[str]]:
    """The words of the commands of a line."""
    import shlex  # noqa: PLC0415 - few runs read a workflow

    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(";&|()"):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError:
        return
    if words:
        yield words


def _command(line: int, words: list[str]) -> TestCommand:
    arguments: list[str] = []
    ignored: list[str] = []
    keyword = ""
    opaque = False
    pending = iter(words)
    for word in pending:
        name, has_value, value = word.partition("=")
        if not word.startswith("-"):
            arguments.append(word.removeprefix("./").rstrip("/"))
            opaque = opaque or "$" in word
        elif _WITH_VALUE.fullmatch(name):
            value = value if has_value else next(pending, "")
            opaque = opaque or (name in ("-k", "--ignore", "--ignore-glob") and "$" in value)
            if name == "-k":
                keyword = value
            elif name in ("--ignore", "--ignore-glob"):
                ignored.append(value.removeprefix("./").rstrip("/"))
    # What follows an option that is not known may be its value, so that the command may have no path at all.
    opaque = opaque or (bool(arguments) and not any(map(_is_path, arguments)))
    return TestCommand(line, tuple(filter(_is_path, arguments)), tuple(ignored), keyword, opaque)


def _is_path(written: str) -> bool:
    return written.startswith(("test", ".")) or any(sign in written for sign in "/*?[") or ".py" in written


def _shared(path: str, other: str) -> int:
    """How many folders two paths share at their beginning."""
    count = 0
    for first, second in zip(path.split("/")[:-1], other.partition("::")[0].split("/"), strict=False):
        if first != second:
            break
        count += 1
    return count


def _covers(written: str, path: str) -> bool:
    """Whether a path or glob of a command stands for a file, from the root of the project or from a folder in it."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 - few runs read a workflow

    if written in (".", path):
        return True
    if any(sign in written for sign in "*?["):
        return fnmatchcase(path, written) or fnmatchcase(path, f"{written}/*") or fnmatchcase(path, f"*/{written}")
    return path.startswith(f"{written}/") or path.endswith(f"/{written}")


def _selects(expression: str, names: Collection[str]) -> bool:
    """Whether ``-k`` selects a test of these names; an expression that cannot be read selects all."""
    words = re.findall(r"[()]|[^\s()]+", expression.lower())
    texts = [name.lower() for name in names]
    operators = {"and", "or", "not", "(", ")"}
    program = [word if word in operators else str(any(word in text for text in texts)) for word in words]
    return _holds(program)


def _holds(program: list[str]) -> bool:
    """The value of words ``True``, ``False``, ``and``, ``or``, ``not`` and parentheses."""
    at = 0

    def either() -> bool:
        nonlocal at
        value = both()
        while at < len(program) and program[at] == "or":
            at += 1
            value = both() or value
        return value

    def both() -> bool:
        nonlocal at
        value = single()
        while at < len(program) and program[at] == "and":
            at += 1
            value = single() and value
        return value

    def single() -> bool:
        nonlocal at
        if at >= len(program):
            return True
        word = program[at]
        at += 1
        if word == "not":
            return not single()
        if word == "(":
            value = either()
            at += 1
            return value
        return word == "True"

    return either()
