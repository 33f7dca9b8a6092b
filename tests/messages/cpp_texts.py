"""Texts in C++ sources: literals, alone, joined by `+` or in `formatted()`, with the computed parts as {name}.

A text is shown as its reader sees it. `formatted("no clip at {}", path.string())` becomes `no clip at {path}`.
`option("memory")` becomes `--memory`. `(n == 1 ? "is" : "are")` becomes `{is|are}`.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]*)\((?P<body>.*?)\)(?P=mark)")
  | (?P<text>(?:u8|[uUL])?"(?P<inner>(?:\\.|[^"\\\n])*)")
  | (?P<char>(?:u8|[uUL])?'(?P<character>(?:\\.|[^'\\\n])+)')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>::|->|\+=|-=|\*=|/=|\|=|&=|<<|==|!=|<=|>=|&&|\|\||\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:\\\n|[^\n])*", re.MULTILINE)
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
CLOSING = {"(": ")", "[": "]", "{": "}"}

# The tokens that end an expression at its level. `<` and `>` do not: they may belong to a template.
ENDS = set(", ; = += ? : && || == != << <= >= return throw case else".split())
# Calls whose texts nobody is shown: checks of the compiler, and docstrings of the bindings.
SILENT_CALLS = {"static_assert", "sig", "class_", "enum_", "module_"}
SILENT_PREFIX = "def"
# Calls that give the text of their first argument, the other arguments being values in it.
WRAPPERS = {"string", "string_view", "text_of", "to_text"}
FLAGS = {"option", "option_on", "option_set"}
# Names that say nothing about the value.
EMPTY_NAMES = set(
    "std string string_view c_str to_string static_cast value value_or get data size first second this self".split()
)


@dataclass(frozen=True)
class Token:
    kind: str  # text, char, number, name or sign
    value: str


@dataclass
class Group:
    sign: str
    parts: list = field(default_factory=list)  # Token or Group


def unescape(inner):
    def plain(match):
        hexadecimal, octal, unicode, letter = match.groups()
        if hexadecimal or unicode:
            return chr(int(hexadecimal or unicode, 16))
        if octal:
            return chr(int(octal, 8))
        return ESCAPED.get(letter, letter)

    return ESCAPE.sub(plain, inner)


def tokens_of(source):
    source = DIRECTIVE.sub(lambda found: found[0].replace("#", " ", 1) if found[1] == "define" else "", source)
    place = 0
    while place < len(source):
        found = TOKEN.match(source, place)
        place = found.end()
        if found["raw"] is not None:
            yield Token("text", found["body"])
        elif found["text"] is not None:
            yield Token("text", unescape(found["inner"]))
        elif found["char"] is not None:
            yield Token("char", unescape(found["character"]))
        else:
            for kind in ("number", "name", "sign"):
                if found[kind] is not None:
                    yield Token(kind, found[kind])


def grouped(tokens):
    """The tokens as a tree: what is between brackets is a Group."""
    top = Group("")
    stack = [top]
    for token in tokens:
        if token.kind == "sign" and token.value in CLOSING:
            inner = Group(token.value)
            stack[-1].parts.append(inner)
            stack.append(inner)
        elif token.kind == "sign" and token.value in CLOSING.values():
            if len(stack) == 1 or CLOSING[stack[-1].sign] != token.value:
                raise ValueError(f"a {token.value} that closes nothing")
            stack.pop()
        else:
            stack[-1].parts.append(token)
    if len(stack) > 1:
        raise ValueError(f"a {stack[-1].sign} that is not closed")
    return top


def split(parts, is_end):
    """Yields the runs of parts between those that end one."""
    run = []
    for part in parts:
        if isinstance(part, Token) and part.kind != "text" and is_end(part.value):
            yield run
            run = []
        else:
            run.append(part)
    yield run


def expressions(group):
    return [run for run in split(group.parts, ENDS.__contains__) if run]


def arguments(group):
    return [run for run in split(group.parts, ",".__eq__) if run]


def operands(run):
    return [part for part in split(run, "+".__eq__) if part]


def literal(operand):
    """The text of an operand that is literals side by side, or one character; None for another."""
    if any(isinstance(part, Group) for part in operand) or not operand:
        return None
    if [part.kind for part in operand] == ["char"]:
        return operand[0].value
    is_text = operand[0].kind == "text" and all(part.kind in ("text", "name") for part in operand)
    return "".join(part.value for part in operand if part.kind == "text") if is_text else None


def callee(parts, place):
    """The name in front of the group at this place: of a call, also with template arguments."""
    place -= 1
    if place >= 0 and isinstance(parts[place], Token) and parts[place].value == ">":
        depth = 0
        while place >= 0:
            value = parts[place].value if isinstance(parts[place], Token) else ""
            depth += (value == ">") - (value == "<")
            place -= 1
            if depth == 0:
                break
    if place >= 0 and isinstance(parts[place], Token) and parts[place].kind == "name":
        return parts[place].value
    return ""


def only_call(operand):
    """(name, Group) of an operand that is one call; (None, None) for another."""
    if len(operand) < 2 or not isinstance(operand[-1], Group):
        return None, None
    if any(not isinstance(part, Token) or (part.kind == "sign" and part.value != "::") for part in operand[:-1]):
        return None, None
    return callee(operand, len(operand) - 1), operand[-1]


def names_in(parts):
    """The names of values in an expression: the last of each chain a.b.c, without calls that have arguments."""
    names = []
    for place, part in enumerate(parts):
        following = parts[place + 1] if place + 1 < len(parts) else None
        if isinstance(part, Group):
            if part.sign != "{" or callee(parts, place):
                names += names_in(part.parts)
        elif part.kind == "name" and part.value not in EMPTY_NAMES:
            is_qualifier = isinstance(following, Token) and following.value == "::"
            is_call = isinstance(following, Group) and following.sign == "(" and following.parts
            if not is_qualifier and not is_call:
                after_dot = place > 0 and isinstance(parts[place - 1], Token) and parts[place - 1].value in (".", "->")
                if after_dot and names:
                    names.pop()
                names.append(part.value)
    return names


def placeholder(operand):
    names = names_in(operand)
    name = names[0].strip("_") if names else ""
    if re.match("k[A-Z]", name):
        name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name[1:]).lower()
    return "{" + name + "}"


def has_literal(run):
    """Whether the expression is a text: one of its operands is a literal, or a wrapper of one."""
    for operand in operands(run):
        if literal(operand) is not None:
            return True
        name, group = only_call(operand)
        if name == "formatted":
            return True
        if name in WRAPPERS and arguments(group) and has_literal(arguments(group)[0]):
            return True
        is_bracketed = len(operand) == 1 and isinstance(operand[0], Group) and operand[0].sign == "("
        if is_bracketed and len(operands(run)) > 1 and has_literal(operand[0].parts):
            return True
    return False


def label_of(group, name, run):
    """The word in front of a text in its group: the flag of a help, the key of a rule."""
    first = (arguments(group) or [[]])[0]
    if not first or run[0] is first[0]:
        return ""
    text = literal(first)
    if text is None and name.startswith("XTTS_") and all(isinstance(part, Token) for part in first):
        text = "".join(part.value for part in first)
    return text if text and " " not in text else ""


class Texts:
    """The texts of one source. Groups that a text shows in full are not looked at again."""

    def __init__(self):
        self._shown = set()  # ids of groups

    def of(self, group, name=""):
        """Yields (label, text, whether it is a Status's) of all texts in a group, from left to right."""
        # What stands in formatted() itself is in the text of the whole call.
        is_silent = name in SILENT_CALLS or name == "formatted" or name.startswith(SILENT_PREFIX)
        begins_with_code = any(isinstance(part, Token) and part.value == "StatusCode" for part in group.parts[:1])
        in_status = begins_with_code or name in ("Status", "StatusError")
        found = {}
        for run in [] if is_silent else expressions(group):
            if has_literal(run):
                found[id(run[0])] = (label_of(group, name, run), self._text(run), in_status)
        for place, part in enumerate(group.parts):
            if id(part) in found:
                yield found[id(part)]
            if isinstance(part, Group) and id(part) not in self._shown:
                yield from self.of(part, callee(group.parts, place))

    def _text(self, run):
        return "".join(self._operand(operand) for operand in operands(run))

    def _operand(self, operand):
        text = literal(operand)
        if text is not None:
            return text
        name, group = only_call(operand)
        given = arguments(group) if group else []
        if name == "formatted":
            return self._filled(group)
        if name in FLAGS and given:
            return self._flag(name, group)
        if name in WRAPPERS and given and (has_literal(given[0]) or len(given) == 1):
            return self._inside(group, given[0])
        if name == "string" and len(given) == 2 and literal(given[1]) is not None:
            return self._inside(group, given[1])
        if name == "format_counted" and len(given) == 3:
            self._shown.add(id(group))
            return placeholder(given[0]) + " " + self._text(given[2])
        if len(operand) == 1 and isinstance(operand[0], Group) and operand[0].sign == "(":
            return self._bracket(operand[0])
        return placeholder(operand)

    def _inside(self, group, run):
        self._shown.add(id(group))
        return self._text(run)

    def _flag(self, name, group):
        """The option that a call of base/option_names.hpp names, as the command line writes it."""
        values = [self._text(argument) for argument in arguments(group)]
        self._shown.add(id(group))
        if name == "option_set":
            return "--set " + "=".join(values)
        return " ".join(["--" + values[0].removeprefix("--"), *values[1:]])

    def _filled(self, group):
        """The first argument, with the others in the places of its {}."""
        template, *values = arguments(group)
        first, *others = literal(template).split("{}")
        return first + "".join(self._part(value) + other for value, other in zip(values, others, strict=True))

    def _bracket(self, group):
        self._shown.add(id(group))
        return self._part(group.parts)

    def _part(self, parts):
        """`{a|b}` for `condition ? a : b`, else the text of the parts."""
        choices = list(split(parts, lambda value: value in ("?", ":")))[1:]
        if choices:
            return "{" + "|".join(self._text(choice) for choice in choices if choice) + "}"
        return self._text(parts) if has_literal(parts) or only_call(parts)[1] else placeholder(parts)


def texts_of(source):
    yield from Texts().of(grouped(tokens_of(source)))
