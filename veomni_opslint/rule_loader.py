"""Finding, checking and selecting the rules. Nothing else names their package, so adding a rule edits no file."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.findings import Finding
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel
    from veomni_opslint.proposals import Proposal
    from veomni_opslint.runtime.observation import RuntimeRun

_PACKAGE = "veomni_opslint.rules"
_PREFIX = re.compile(r"OPS[A-Z]{0,8}\d{0,3}", re.IGNORECASE)
EXACT = 100


class LoadedRule(NamedTuple):
    """A rule as its module defines it.

    ``summary`` is the first line of the module's docstring and of its page. ``options`` are the names of its options
    with their defaults. ``always`` rules say that a file could not be checked, so ``--select`` does not drop them.
    ``fix`` says how a finding of the rule can be fixed. ``judge`` is what a rule about a run of the program has instead
    of ``check``. ``file`` is the path of a rule that is not opslint's own.
    """

    rule: Rule
    stem: str
    summary: str
    check: Callable[[OpsModel], Iterable[Finding]]
    options: Mapping[str, object]
    fixable: bool
    always: bool
    fix: Callable[[OpsModel, Finding], Proposal | None] | None = None
    judge: Callable[[RuntimeRun], Iterable[Finding]] | None = None
    file: str = ""

    @property
    def runtime(self) -> bool:
        """Whether the rule is about a run of the program, so that only ``opslint runtime`` has what it looks at."""
        return self.judge is not None


class Selection(NamedTuple):
    """Rules chosen in one place (a file, the command line), as written there."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


NOTHING_ASKED = Selection()


@cache
def load_rules() -> tuple[LoadedRule, ...]:
    """Every rule, sorted by code.

    Raises:
        RunError: a module in the rules folder is no rule.
    """
    package = importlib.import_module(_PACKAGE)
    stems = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted((_load(stem) for stem in stems), key=lambda loaded: loaded.rule.code))


def rule_page(loaded: LoadedRule) -> str:
    """The rule's page, as Markdown.

    Raises:
        RunError: the page is missing.
    """
    if loaded.file:
        return _own_page(loaded)
    try:
        data = pkgutil.get_data(_PACKAGE, f"{loaded.stem}.md")
    except OSError:
        data = None
    if data is None:
        raise RunError(f"rules/{loaded.stem}.md: the page of {loaded.rule.code} is missing in this installation")
    return data.decode()


def _own_page(loaded: LoadedRule) -> str:
    """A rule of a project may do without a page."""
    try:
        with open(f"{loaded.file.removesuffix('.py')}.md", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return f"# {loaded.rule.code} {loaded.rule.name}\n\n{loaded.summary}\n"
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the page of {loaded.rule.code}, beside {loaded.file}, cannot be read: {error}") from None


def find_rule(word: str, rules: Sequence[LoadedRule]) -> LoadedRule:
    """The one of *rules* called *word*, a code or a name.

    Raises:
        RunError: there is no such rule.
    """
    for loaded in rules:
        if word.casefold() in (loaded.rule.code.casefold(), loaded.rule.name, loaded.stem):
            return loaded
    raise RunError(f"`{word}` is no rule{rule_hint(word, [loaded.rule for loaded in rules])}")


def rule_hint(word: str, rules: Iterable[Rule]) -> str:
    """The way out for a word that names none of *rules*."""
    # Codes are all alike, so of a wrong one nobody can tell which was meant.
    is_code = _PREFIX.fullmatch(word) is not None
    near = "" if is_code else did_you_mean(word, [name for rule in rules for name in (rule.code, rule.name)])
    return near or "; `opslint rules` lists them"


def matches(selector: str, rule: Rule) -> int:
    """How closely *selector* (a code, the beginning of one, a name, or ALL) names *rule*: 0 for not at all."""
    if selector.casefold() in (rule.code.casefold(), rule.name):
        return EXACT
    if selector.upper() == "ALL":
        return 1
    return len(selector) if _PREFIX.fullmatch(selector) and rule.code.startswith(selector.upper()) else 0


def select_rules(
    rules: Sequence[LoadedRule], configured: Selection, asked: Selection, configured_in: str, *, runtime: bool = False
) -> tuple[LoadedRule, ...]:
    """The rules that run: with *runtime* those about a run of the program, else those about its source.

    The nearer selector wins (a code over a prefix over ALL), and ignoring wins a tie.

    What the command line asks for comes first: its ``select`` replaces the configured selection.

    Raises:
        RunError: a selector names no rule, or no rule is left.
    """
    _require_known(rules, configured, f"{configured_in}: ", ("select", "ignore", "extend-select"))
    _require_known(rules, asked, "", ("--select", "--ignore", "--extend-select"))
    layers = (asked,) if asked.select else (asked, configured)
    chosen = tuple(loaded for loaded in rules if loaded.runtime == runtime and _is_selected(loaded, layers))
    if all(loaded.always and not _is_named(loaded, layers) for loaded in chosen):
        meant = next((loaded.rule for loaded in rules if loaded.runtime and _is_named(loaded, layers)), None)
        if meant is not None and not runtime:
            raise RunError(f"{meant.code} {meant.name} is about a run of the program: `opslint runtime` finds it")
        raise RunError("no rule is selected, so nothing would be checked; `opslint rules` lists them")
    return chosen


def _is_selected(loaded: LoadedRule, layers: tuple[Selection, ...]) -> bool:
    if loaded.always:
        return not any(_nearest(layer.ignore, loaded.rule) == EXACT for layer in layers)
    for layer in layers:
        on = _nearest((*layer.select, *layer.extend_select), loaded.rule)
        off = _nearest(layer.ignore, loaded.rule)
        if on or off:
            return on > off
    return False


def _is_named(loaded: LoadedRule, layers: tuple[Selection, ...]) -> bool:
    return any(_nearest((*layer.select, *layer.extend_select), loaded.rule) == EXACT for layer in layers)


def _nearest(selectors: Iterable[str], rule: Rule) -> int:
    return max((matches(selector, rule) for selector in selectors), default=0)


def _require_known(rules: Sequence[LoadedRule], selection: Selection, where: str, keys: tuple[str, ...]) -> None:
    for key, selectors in zip(keys, (selection.select, selection.ignore, selection.extend_select), strict=True):
        for selector in selectors:
            require_rule(selector, rules, f"{where}{key}")


def require_rule(selector: str, rules: Sequence[LoadedRule], where: str) -> None:
    """End the run when *selector*, written at *where*, names no rule."""
    if selector.upper() != "ALL" and not any(matches(selector, loaded.rule) for loaded in rules):
        raise RunError(f"{where}: `{selector}` names no rule{rule_hint(selector, [loaded.rule for loaded in rules])}")


def _load(stem: str) -> LoadedRule:
    try:
        module = importlib.import_module(f"{_PACKAGE}.{stem}")
    except Exception as error:
        raise RunError(f"rules/{stem}.py cannot be imported: {type(error).__name__}: {error}") from error
    return loaded_rule(module, stem, f"rules/{stem}.py")


def loaded_rule(module: ModuleType, stem: str, shown: str, file: str = "") -> LoadedRule:
    """The rule that a module defines; messages call it *shown*.

    Raises:
        RunError: the module is no rule.
    """
    rule = getattr(module, "rule", None)
    judge = getattr(module, "judge", None)
    check = getattr(module, "check", None) if judge is None else _finds_nothing
    fix = getattr(module, "fix", None)
    options = getattr(module, "OPTIONS", {})
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    if not isinstance(rule, Rule) or not stem.startswith(rule.code.lower()):
        raise RunError(f"{shown} binds no `rule = Rule.of(__name__)`")
    if not callable(check):
        raise RunError(f"{shown} defines no `check(model)`, and no `judge(run)` either")
    if not summary:
        raise RunError(f"{shown} has no docstring that says what it catches")
    if fix is not None and not callable(fix):
        raise RunError(f"{shown} has a `fix` that is no function of a model and a finding")
    if not isinstance(options, Mapping):
        raise RunError(f"{shown} has an OPTIONS that is no mapping of names to defaults")
    return LoadedRule(
        rule=rule,
        stem=stem,
        summary=summary,
        check=check,
        options=options,
        fixable=fix is not None,
        always=bool(getattr(module, "ALWAYS_SELECTED", False)),
        fix=fix,
        judge=judge if callable(judge) else None,
        file=file,
    )


def _finds_nothing(model: OpsModel) -> Iterable[Finding]:  # noqa: ARG001 - the signature of every check
    return ()
