"""What a call passes for the parameters that a condition of the callee is about."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.operands import Operand, compare, operand, truth_of
from veomni_opslint.facts import FileFacts, Scope, Span, statements_of
from veomni_opslint.parameters import Parameter

_NOWHERE = ast.Constant(None, lineno=0, col_offset=0)
_OPERATORS = {
    "Eq": ast.Eq(),
    "Is": ast.Is(),
    "In": ast.In(),
    "Gt": ast.Gt(),
    "GtE": ast.GtE(),
    "Lt": ast.Lt(),
    "LtE": ast.LtE(),
}


def arguments_at(
    facts: FileFacts, scope: int, span: Span, function: Scope, defaults: Mapping[str, Operand]
) -> dict[str, Operand]:
    """What each parameter of *function* is in the call that has its name at *span*, where it is plain.

    *defaults* are those of the function, which hold where the call gives no argument.
    """
    line, column, _, _ = facts.scopes[scope].span
    own: dict[str, Operand] = {}
    assigned: set[str] = set()
    call: ast.Call | None = None
    for statement in statements_of(facts, facts.scopes[scope]):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and (node.func.lineno, node.func.col_offset) == span[:2]:
                call = node
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.add(node.id)
    if call is None:
        return {}
    for one in facts.scopes[scope].parameters:
        own[one.name] = ("opaque", line, column, one.name) if one.name in assigned else ("param", one.name)
    for name in assigned:
        own.setdefault(name, ("opaque", line, column, name))
    given = _bind(call, function.parameters, own)
    return {**defaults, **given} if _is_written_out(call) else given


def substitute(
    condition: Condition, given: Mapping[str, Operand], value_of: Callable[[Condition], bool | None]
) -> Condition:
    """*condition* of a callee, said of a call: parameters become arguments, anything else what *value_of* knows."""
    kind = condition[0]
    if kind in ("true", "false"):
        return condition
    if kind == "not":
        return negate(substitute(condition[1], given, value_of))
    if kind in ("and", "or"):
        result = TRUE if kind == "and" else FALSE
        for part in condition[1:]:
            one = substitute(part, given, value_of)
            result = both(result, one) if kind == "and" else either(result, one)
        return result
    if kind == "param" and (argument := _argument(str(condition[1]), given)) is not None:
        return truth_of(argument)
    if kind == "cmp" and condition[3][0] == "param":
        other = _argument(str(condition[3][1]), given)
        if other is not None and other[0] == "const":
            said = compare(_OPERATORS[condition[1]], condition[2], other, _NOWHERE)
            return substitute(said, given, value_of)
    if kind == "cmp" and condition[2][0] == "param":
        argument = _argument(str(condition[2][1]), given)
        if argument is not None:
            return compare(_OPERATORS[condition[1]], argument, condition[3], _NOWHERE)
    known = value_of(condition)
    return ("free", condition) if known is None else TRUE if known else FALSE


def defaults_of(
    function: Scope, value_of: Callable[[Condition], bool | None], constants: bool = True
) -> dict[str, Operand]:
    """The defaults of the parameters: *constants*, and truth values that *value_of* knows where it is defined."""
    arguments = function.arguments
    if arguments is None:
        return {}
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    found: dict[str, Operand] = {}
    for one, default in pairs:
        value = operand(default, {}) if default is not None else ("opaque", 0, 0, "")
        if value[0] == "const":
            found |= {one.arg: value} if constants else {}
            continue
        known = value_of(truth_of(value))
        if known is not None:
            found[one.arg] = ("const", known)
    return found


def _argument(name: str, given: Mapping[str, Operand]) -> Operand | None:
    """What stands for a parameter, or for an attribute of one that is a name at the call as well."""
    if name in given:
        return given[name]
    owner, _, attribute = name.rpartition(".")
    known = _argument(owner, given) if owner else None
    if known is None or known[0] not in ("name", "param"):
        return None
    return (known[0], f"{known[1]}.{attribute}")


def _is_written_out(call: ast.Call) -> bool:
    given = (*call.args, *(None if keyword.arg is None else keyword.value for keyword in call.keywords))
    return not any(one is None or isinstance(one, ast.Starred) for one in given)


def _bind(call: ast.Call, parameters: tuple[Parameter, ...], own: Mapping[str, Operand]) -> dict[str, Operand]:
    given: dict[str, Operand] = {}
    plain = [one.name for one in parameters if one.kind in ("positional", "normal")]
    if plain and plain[0] in ("self", "cls") and isinstance(call.func, ast.Attribute):
        plain = plain[1:]
    for name, argument in zip(plain, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given[name] = operand(argument, own)
    for keyword in call.keywords:
        if keyword.arg is not None:
            given[keyword.arg] = operand(keyword.value, own)
    return given
