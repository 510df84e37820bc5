"""What the settings of a project say about single rules: their options, and where they do not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.file_walk import Excludes
from veomni_opslint.rule_levels import Levels
from veomni_opslint.rule_loader import LoadedRule, find_rule, matches, require_rule
from veomni_opslint.settings import TYPE_NAMES, Settings, described


def rule_options(settings: Settings, rules: Iterable[LoadedRule]) -> dict[str, Mapping[str, object]]:
    """The options of every rule by name: what the settings say, else the rule's default.

    Raises:
        RunError: a rule or an option does not exist, or a value is of another type than its default.
    """
    rules = tuple(rules)
    chosen = {loaded.rule.name: dict(loaded.options) for loaded in rules}
    for word, table in settings.rules.items():
        where = f"{settings.describe()}: rules.{word}"
        require_rule(word, rules, where)
        name = find_rule(word, rules).rule.name
        for key, value in table.items():
            if key not in chosen[name]:
                raise RunError(f"{where}: {name} has no option `{key}`{_options_hint(key, chosen[name])}")
            default = chosen[name][key]
            given = tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value
            if type(given) is not type(default):
                raise RunError(f"{where}.{key}: has to be {TYPE_NAMES[type(default)]}, not {described(value)}")
            chosen[name][key] = given
    return dict(chosen)


def _options_hint(key: str, options: Iterable[str]) -> str:
    names = tuple(options)
    if not names:
        return "; it has no options"
    return did_you_mean(key, names) or f"; it has {', '.join(f'`{name}`' for name in names)}"


def rules_by_file(
    paths: Iterable[str],
    settings: Settings,
    rules: Sequence[LoadedRule],
    selected: Sequence[LoadedRule],
    levels: Levels,
) -> dict[str, frozenset[str]]:
    """The codes of the *selected* rules whose findings count, for each path.

    Raises:
        RunError: a selector of the per-file ignores names no rule.
    """
    everywhere = frozenset(loaded.rule.code for loaded in selected)
    ignores = [(Excludes([pattern]), selectors) for pattern, selectors in settings.per_file_ignores]
    for pattern, selectors in settings.per_file_ignores:
        for selector in selectors:
            require_rule(selector, rules, f"{settings.describe()}: per-file-ignores {pattern!r}")
    if not ignores and not levels.by_file:
        return dict.fromkeys(paths, everywhere)
    return {
        path: everywhere
        - _ignored(selected, [selectors for glob, selectors in ignores if glob.match(path)])
        - levels.off_in(path)
        for path in paths
    }


def _ignored(selected: Sequence[LoadedRule], selectors: Iterable[tuple[str, ...]]) -> frozenset[str]:
    words = [word for group in selectors for word in group]
    return frozenset(loaded.rule.code for loaded in selected if any(matches(word, loaded.rule) for word in words))
