"""The options of a command, as argparse makes them."""

from __future__ import annotations

import ast
import functools

from .files import Source
from .project import constant, last_name

_PARSERS = {"parse_args", "parse_known_args", "parse_intermixed_args"}


def default_of(source: Source, node: ast.Attribute) -> object:
    """Returns the default of `args.name`, where the same file parses `args` and makes the option; else None."""
    if last_name(node.value) not in _parsed(source) or node.attr in _set_later(source):
        return None
    return _defaults(source).get(node.attr)


@functools.lru_cache(maxsize=1)  # the loaders of one file come one after another
def _defaults(source: Source) -> dict[str, object]:
    """Returns the default of each option that add_argument() makes in a file."""
    defaults: dict[str, object] = {}
    for call, _ in source.calls:
        if last_name(call.func) == "set_defaults":
            defaults.update((keyword.arg or "", constant(keyword.value)) for keyword in call.keywords)
        if last_name(call.func) != "add_argument":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        options = [constant(one) for one in call.args]
        names = [one.lstrip("-").replace("-", "_") for one in options if isinstance(one, str)]
        for name in (constant(given.get("dest")), *names):
            if isinstance(name, str):
                defaults.setdefault(name, constant(given.get("default")))
    return defaults


@functools.lru_cache(maxsize=1)
def _set_later(source: Source) -> set[str]:
    """Returns the options that a file gives a value itself: `if args.workers == 0: args.workers = 4`."""
    parsed = _parsed(source)
    return {
        node.attr
        for node in source.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and last_name(node.value) in parsed
    }


@functools.lru_cache(maxsize=1)
def _parsed(source: Source) -> set[str]:
    """Returns the names that hold a parsed command line in a file: variables, and parameters that are given one."""
    parsing = [call for call, _ in source.calls if last_name(call.func) in _PARSERS]
    makers = _PARSERS | {function.name for call in parsing if (function := source.function_of(call)) is not None}
    functions = {node.name: node for node in source.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    names: set[str] = set()
    for call, _ in source.calls:
        if last_name(call.func) not in makers:
            continue
        parent = source.parents.get(call)
        if isinstance(parent, ast.Assign):
            for target in parent.targets:  # args, rest = parser.parse_known_args()
                names.add(last_name(target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target))
        elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
            names.add(last_name(parent.target))
        elif isinstance(parent, ast.Call) and call in parent.args:  # main(parser.parse_args())
            function = functions.get(last_name(parent.func))
            given = [] if function is None else [*function.args.posonlyargs, *function.args.args]
            names.update(one.arg for one in given[parent.args.index(call) :][:1])
    return names - {""}
