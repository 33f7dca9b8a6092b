"""Texts in Python sources: literals and f-strings, joined by `+`, with the computed parts as {name}.

Docstrings are left out.
"""

import ast

EMPTY_NAMES = {"self", "str", "repr", "len"}


def docstrings(tree):
    """Statements that are a literal alone: docstrings, also of attributes."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def name_of(node):
    """The name that a computed part is shown by."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func and node.args:
            continue
        name = name_of(child)
        if name and name not in EMPTY_NAMES:
            return name
    return ""


def rendered(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "{}"
    if isinstance(node, ast.JoinedStr):
        return "".join(rendered(value) for value in node.values)
    if isinstance(node, ast.FormattedValue):
        return rendered(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return rendered(node.left) + rendered(node.right)
    if isinstance(node, ast.IfExp):
        return "{" + rendered(node.body) + "|" + rendered(node.orelse) + "}"
    return "{" + name_of(node) + "}"


def is_text(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr)


def label_of(call):
    """The flag whose help a call gives."""
    first = call.args[0] if call.args else None
    is_flag = isinstance(first, ast.Constant) and isinstance(first.value, str) and " " not in first.value
    return first.value if is_flag else ""


def texts_in(node, silent, label="", is_raised=False):
    """Yields (label, text, whether an exception carries it), from top to bottom."""
    if id(node) in silent and is_text(node):
        return
    if is_text(node):
        yield label, rendered(node), is_raised
        for child in ast.walk(node):
            if isinstance(child, ast.FormattedValue):
                yield from texts_in(child.value, silent)
        return
    if isinstance(node, ast.Call):
        own = label_of(node)
        yield from texts_in(node.func, silent)
        for place, argument in enumerate([*node.args, *node.keywords]):
            yield from texts_in(argument, silent, own if place else "", is_raised)
        return
    if isinstance(node, ast.Raise):
        is_raised = True
    elif not isinstance(node, ast.keyword):
        label, is_raised = "", False
    for child in ast.iter_child_nodes(node):
        if not is_annotation(node, child):
            yield from texts_in(child, silent, label, is_raised)


def is_annotation(node, child):
    return child is getattr(node, "annotation", None) or child is getattr(node, "returns", None)


def texts_of(source):
    tree = ast.parse(source)
    yield from texts_in(tree, docstrings(tree))
