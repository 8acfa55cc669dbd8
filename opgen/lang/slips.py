"""What the parser says of tokens that cannot stand where they do.

Tokens in, hints out; and how far a statement of another language goes, so that it is reported once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opgen.lang import cut_lines
from opgen.lang.habits import ALONG, COLON, COMMENT, DOTS, ELEMENT, FUNCTIONS, JOIN, STATEMENTS, WHOLE_AXIS, over_lines
from opgen.lang.latex import written
from opgen.lang.latex_lines import below_sign
from opgen.lang.lexer import T, Token
from opgen.lang.listed_components import components
from opgen.lang.modes import of_conversion, of_mode
from opgen.lang.paper import multiplied
from opgen.lang.runs import of_listed, of_neighbours, within
from opgen.lang.scattered_means import scattered_mean
from opgen.lang.several_ranges import ranged
from opgen.lang.spelt_out import WORDS, spelt_out
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.written_numbers import written_number
from opgen.schema.reductions import REDUCTIONS

_SUBSCRIPT = re.compile(r"(sum|prod|mean|max|min)_([a-z]\w*)")  # of LaTeX
_EQUATION = re.compile(
    r"(?:^|[=:])\s*['\"]?(?P<of>[a-zA-Z]+(?:\s*,\s*[a-zA-Z]+)*)\s*->\s*(?P<to>[a-zA-Z]*)['\"]?\s*$"
)  # of einsum
_BRANCH = re.compile(r"(?:(?:el)?if\b(?P<test>[^:]+)|else\s*):(?P<rest>.*)")
_GOES_ON = re.compile(r"\s*[-+*/%]")
_QUOTED = re.compile(r"'.*?'|\".*?\"")
_PAPER = re.compile(r"(?<![\w.])(?P<fn>[a-z]\w*) +(?P<of>(?:\d[\d.]*|[A-Za-z]\w*)(?:\[[^\]]*\])?)(?!\w*[\[(])")
_SIDE_BY_SIDE = re.compile(r"(?<=[\w\])]) +(?=[A-Za-z(])")
_STATEMENT = re.compile(r"\w+(\[[^\]]*\])? *= *[^=].*")
_GUARD = re.compile(r"\bif\s+(\w+)\s*==\s*[\"']")
_COMPREHENSION = re.compile(r"\[.*\bfor +\w+ +in\b")
_DRAWN = re.compile(r"\b(uniform|normal)\((\w+),\s*$")


def _before(token: Token) -> str:
    """What stands in front of a token on its line."""
    return token.span.source.text[: token.span.start].rpartition("\n")[2]


def last_case(token: Token) -> str:
    """How the last of several cases is written, by the guards above it."""
    asked = _GUARD.findall(token.span.source.text[: token.span.start])
    shown = f'`… if {asked[-1]} == "…"`' if asked else '`… if mode == "…"`'
    return f"the last case has a guard like those above: {shown}, with its own word, which stands among the `choices`"


_WITHIN = "one formula stands here; what it is made of stands in statements of `forward`, or in other functions"
_FROM_0 = "an index runs from 0: `sum[k](…)`, or with its extent `sum[k < K](…)`"
_UPDATES = {  # combinations that are spelt out
    **dict.fromkeys(("add", "sum"), "+="), **dict.fromkeys(("mul", "multiply", "prod"), "*="),
    **dict.fromkeys(("maximum", "amax"), "max="), **dict.fromkeys(("minimum", "amin"), "min="),
}  # fmt: skip
_WORDS = {"mod": "%", "div": "//"}  # operators of other languages


def hints(
    token: Token,
    previous: Token | None,
    wanted: str,
    words: Vocabulary,
    tensors: Sequence[str] = (),
    functions: Sequence[str] = (),
) -> Iterator[str]:
    """What may be meant where `wanted` would have to stand instead of a token.

    `words`: all that the spec names; `tensors`: its inputs; `functions`: those that it may call.
    """
    if equation := _EQUATION.search(_before(token) + _after(token)):
        yield f"the equation of an einsum is no formula: write `{_contracted(equation, tensors)}`"
    elif token.is_word("if"):
        yield "a guard stands at the end of a statement; inside a formula write `where(condition, a, b)`"
    elif token.is_word("else"):
        yield "write `where(condition, a, b)` for a choice inside a formula"
    elif in_words := _in_words(token, wanted, [n for n in tensors if n not in words.masks]):
        yield in_words
    elif token.is_op(")", "]") and wanted.startswith("an operator or"):
        yield f"there is one `{token.text}` too many, or its opening bracket is missing"
    elif wanted == "`=`" and (token.is_op(":", "=") or _after(token).startswith("<-")):
        yield _arrow(token) or "write `=`"
    elif wanted == "`=`" and previous and previous.kind is T.NAME and token.is_op(*"+-*/%", "**", "//"):
        yield f"name the result: `y = {_whole(previous)}`"
    elif wanted == "the name that a statement assigns" and token.is_op(*"+-*/%", "**", "//", ")", "]"):
        first = token.span.source.text[: token.span.start - len(_before(token))].rstrip().rpartition("\n")[2]
        lines = over_lines(first.partition("#")[0].rstrip(), _last_of(token).partition("#")[0].rstrip())
        yield COMMENT if _is_prose(token) else lines
    elif token.is_op("=") and wanted.endswith("`]`"):
        yield ranged(_before(token), _after(token), token.span.source.text) or _FROM_0
    elif token.is_op("="):
        yield _WITHIN if previous and _before(token).strip() == previous.text else "equality is written `==`"
    elif token.kind is T.NAME and previous and previous.kind is T.NAME and _is_commented(token):
        yield COMMENT
    elif number := written_number(_before(token), _after(token)):
        yield number
    elif token.kind is T.NAME and wanted.endswith("`]`"):
        yield "indices are separated by commas: `x[i, j]`"
    elif previous and previous.is_word(*STATEMENTS):
        yield own_function(_before(token) + _after(token)) or STATEMENTS[previous.text]
    elif token.is_op(":"):
        yield WHOLE_AXIS if previous and previous.is_op("(", ",") else COLON
    elif token.kind is T.NEWLINE:
        yield cut_lines.hint_of(token)
    elif told := _on_paper(previous, token, words, functions):
        yield told
    elif previous and previous.is_op("]") and wanted.startswith("an operator"):
        yield "the body of a reduction stands in parentheses: `sum[k](…)`"
    elif token.is_op("[") and previous and previous.is_op(")"):
        yield FUNCTIONS.get(_function(_before(token)), ELEMENT)
    elif token.is_op("[") and wanted == "an expression" and (drawn := _DRAWN.search(_before(token))):
        yield f"`{drawn[1]}({drawn[2]})` draws a number at each point of the statement: no shape is named"
    elif token.is_op("[") and wanted == "an expression":
        yield f"there are no lists; {_of_list(token, words)}"
    elif previous and (subscript := _SUBSCRIPT.fullmatch(previous.text)):
        shown = below_sign(previous.span.source.text, previous.span.start) or f"{subscript[1]}[{subscript[2]}](…)"
        yield f"a reduction has its index in brackets and its body in parentheses: `{shown}`"
    elif token.is_op("(", "[") or token.kind in {T.NAME, T.NUMBER}:
        yield _called(previous, token, functions) or _multiplied(token, functions)


def _of_list(token: Token, words: Vocabulary) -> str:
    """What is said of a list that begins here."""
    if _COMPREHENSION.match(_after(token)):
        return ALONG
    return components(words, _before(token), token.span.source.text[token.span.start :]) or JOIN


def _in_words(token: Token, wanted: str, numbers: Sequence[str]) -> str:
    """What is said of an operator that is a word in other languages; nothing of any other token."""
    if wanted.endswith("`]`"):
        return _in_brackets(token) if token.is_word("in") else ""
    if wanted in ("`=`", "the name that a statement assigns") and (away := of_mode(_before(token) + _after(token))):
        return away
    line = spelt_out(_before(token), _after(token), numbers) if token.is_word(*WORDS) else ""
    if not line and token.is_word("in"):
        return "each value is compared by itself: `x == a or x == b`"
    return f"write `{line}`" if line else ""


def _in_brackets(token: Token) -> str:
    """What is said of `in` in the brackets of a reduction or an access."""
    beside = _before(token), _after(token), token.span.source.text
    return of_listed(*beside[:2]) or within(*beside) or of_neighbours(*beside[:2]) or DOTS


def _arrow(token: Token) -> str:
    """`y <- x` of R, written with `=`."""
    value = _after(token).partition("#")[0]
    return f"write `{_before(token).strip()} = {value[2:].strip()}`" if value.startswith("<-") else ""


def _multiplied(token: Token, functions: Sequence[str]) -> str:
    """What is said of a factor that stands beside another, with the statement that is meant where it is clear."""
    if converted := of_conversion(_before(token), _factor(_after(token))):
        return converted
    signed = multiplied(_before(token), _after(token), token.span.source.text, functions)
    return f"multiplication is written `*`: `{signed}`" if signed else "multiplication is written `*`"


def _on_paper(previous: Token | None, token: Token, words: Vocabulary, functions: Sequence[str]) -> str:
    """What is said of a function, a sum or a factor that stands beside another without a sign between them."""
    if token.is_word(*_UPDATES) and (value := _after(token).removeprefix(token.text).lstrip()).startswith("="):
        sign, old = _UPDATES[token.text], f"{token.text}="
        line = (
            f"{_before(token).rpartition('forward:')[2].strip()} {sign} {value.lstrip('=').partition('#')[0].strip()}"
        )
        return f"`{old}` is written `{sign}`: write `{line}`"
    if token.is_word(*_WORDS):
        sign, after = _WORDS[token.text], _after(token).removeprefix(token.text).partition("#")[0]
        line = f"{_before(token).rpartition('forward:')[2].strip()} {sign}{after.rstrip()}"
        return f"`{token.text}` is written `{sign}`: write `{line}`"
    if whole := _applied(previous, token, functions):
        return f"a function has its argument in parentheses, and multiplication is written `*`: `{whole}`"
    if previous is None or not previous.is_op("]") or token.kind is not T.NAME:
        return ""
    if mean := scattered_mean(_before(token), _after(token), words):
        return mean
    if body := _body(token):
        return f"the body of a reduction stands in parentheses: `{body}`"
    read = _read(_before(token))
    return f"multiplication is written `*`: `{read}*{_factor(_after(token))}`" if read else ""


def _applied(previous: Token | None, token: Token, functions: Sequence[str]) -> str:
    """The line of a function that stands beside its argument or a factor, as on paper: `p[n] log p[n]`."""
    if not any(t is not None and t.is_word(*functions) for t in (previous, token)):
        return ""
    line = (_before(token) + _after(token)).partition("#")[0].strip().strip("\"'")
    if re.search(r"\b(if|and|or|not|else|for|in)\b", line) or not _STATEMENT.fullmatch(line):
        return ""
    made = _PAPER.sub(lambda m: f"{m['fn']}({m['of']})" if m["fn"] in functions else m[0], line)
    left, _, right = made.partition(" = ")
    return f"{left} = {_SIDE_BY_SIDE.sub('*', right)}" if made != line and right else ""


def _body(token: Token) -> str:
    """The reduction that a line ends with in front of its body, which lacks its parentheses."""
    head = re.search(r"\b(?P<name>[a-z]\w*)\[(?P<below>[a-z](?: *, *[a-z])*)\]\s*$", _before(token))
    if head is None or head["name"] not in REDUCTIONS:
        return ""
    return written(f"{head['name']}_{''.join(filter(str.isalnum, head['below']))} {_after(token)}") or ""


def _called(function: Token | None, argument: Token, functions: Sequence[str]) -> str:
    """A function with its argument behind it, as on paper: `log p[n]`."""
    if argument.is_op("(") and function is not None and function.is_op(")"):
        return FUNCTIONS.get(_function(_before(argument)), "")
    if function is None or argument.kind is T.OP or function.text not in functions:
        return ""
    return f"a function has its argument in parentheses: `{function.text}({_factor(_after(argument))})`"


def _is_commented(token: Token) -> bool:
    """Whether a word stands behind another in a comment of another language, by `//`, `%` or `--`."""
    return re.search(r"//|\s(%|--)\s*[A-Za-z_]\w*\s*$", _before(token)) is not None


def _is_prose(token: Token) -> bool:
    """Whether what follows on the line, or stands alone in front of all statements, is a text and no divisor."""
    words = re.match(r"//?\s*[A-Za-z_]\w*\s+[A-Za-z_]", token.span.source.text[token.span.start :])
    above = token.span.source.text[: token.span.start].rstrip().rpartition("\n")[2]
    return words is not None or above.endswith(("forward: |", "backward: |"))


def _read(line: str) -> str:
    """The access that a line ends with, where it is none of a reduction without parentheses."""
    depth = 0
    for at in range(len(line.rstrip()) - 1, -1, -1):
        depth += (line[at] == "]") - (line[at] == "[")
        if depth == 0:
            name = re.split(r"\W", line[:at])[-1]
            return "" if name in REDUCTIONS or not name else name + line[at:].rstrip()
    return ""


def _factor(text: str) -> str:
    """The name that a text begins with, with its brackets."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "[(") - (char in "])")
        if depth < 0 or (depth == 0 and not char.isalnum() and char not in "_[])("):
            return text[:at]
    return text


def _contracted(equation: re.Match[str], tensors: Sequence[str]) -> str:
    """What an equation of an einsum stands for: with these tensors, if they are as many as it has operands."""
    parts, result = [part.strip().lower() for part in equation["of"].split(",")], equation["to"].lower()
    letters = {*"".join(parts)}
    if len(tensors) == len(parts):  # whose names no index has
        spare = (c for c in SPARE if c not in letters and c not in tensors)
        other = str.maketrans({c: next(spare) for c in sorted(letters.intersection(tensors))})
        parts, result, letters = [p.translate(other) for p in parts], result.translate(other), set()
    names = (n for n in ("a", "b", "c", "d", "x", "y", "w", "v", "u", "p", "q") if n not in letters)
    named = [*zip(tensors if len(tensors) == len(parts) else tuple(names), parts, strict=False)]
    product = "*".join(f"{name}[{', '.join(part)}]" for name, part in named)
    summed = [i for i in dict.fromkeys("".join(parts)) if i not in result]
    value = f"sum[{', '.join(summed)}]({product})" if summed else product
    left = f"[{', '.join(result)}]" if result else ""
    return f"out{left} = {value}"


def is_assigned(tokens: Sequence[Token], at: int) -> bool:
    """Whether parentheses that begin here end before a `=`, as in `y(i) = …`."""
    ends = (k for k in range(at, len(tokens)) if tokens[k].is_op(")") or tokens[k].kind in {T.NEWLINE, T.END})
    end = next(ends)
    return tokens[end].is_op(")") and tokens[end + 1].is_op("=")


def bracketed(line: str, tensors: Sequence[str]) -> str:
    """What to write for `y(i) = …`, whose elements of tensors stand in parentheses."""
    names = "|".join(map(re.escape, tensors))
    read = re.sub(rf"\b({names})\(([^()]*)\)", r"\1[\2]", line.partition("#")[0].rstrip("\"' ")) if tensors else line
    meant = re.sub(r"^(\w+)\(([^()]*)\)", r"\1[\2]", read)
    return f"write `{meant}`"


def is_foreign(tokens: Sequence[Token], at: int) -> bool:
    """Whether a statement of another language begins here, such as a loop."""
    return tokens[at].is_word(*STATEMENTS) and not tokens[at + 1].is_op("=", "[", ".")


def end_of_foreign(tokens: Sequence[Token], at: int) -> tuple[int, tuple[str, ...]]:
    """Where a statement of another language ends, with the lines that are indented further, and their first words."""
    margin, first_words = _column(tokens[at]), [tokens[at + 1].text] if tokens[at].is_word("def") else []
    while tokens[at].kind is not T.END:
        at += 1
        if tokens[at - 1].kind is T.NEWLINE and tokens[at].kind is T.NAME:
            if _column(tokens[at]) <= margin and not tokens[at].is_word("elif", "else"):
                break
            first_words.append(tokens[at].text)
    return at, tuple(first_words)


_FUNCTIONS = re.compile(
    r"\s*(?:def\s+(?P<def>\w+)\s*\((?P<given>[\w, ]*)\)\s*:\s*return\s+(?P<value>[^\n]+?)"
    r"|(?P<name>\w+)\s*=\s*lambda\s+(?P<args>[\w, ]+):\s*(?P<body>[^\n]+?))\s*"
)


def own_function(text: str) -> str:
    """How a function is declared that Python defines in one expression; empty where it is none."""
    found = _FUNCTIONS.fullmatch(re.sub(r"#[^\n]*", "", text))
    if found is None:
        return ""
    name, args, body = found["def"] or found["name"], found["given"] or found["args"], found["value"] or found["body"]
    body = f'"{body}"' if "," in body or ":" in body else body
    return f"a function of your own stands under `functions`, outside of the formula: `{name}({args.strip()}): {body}`"


def _whole(token: Token) -> str:
    """The statement that begins with a token."""
    text, start = token.span.source.text, token.span.start
    return text[start:].partition("\n")[0].strip().rstrip("\"'")


def _after(token: Token) -> str:
    """The line of a token, from it on."""
    return token.span.source.text[token.span.start :].partition("\n")[0]


def _last_of(token: Token) -> str:
    """The last of the lines that go on as that of a token does: with an operator."""
    found = _after(token)
    for line in token.span.source.text[token.span.start :].split("\n")[1:]:
        if not _GOES_ON.match(line):
            break
        found = line
    return found


def _function(line: str) -> str:
    """The function whose call a line ends with."""
    depth = 0
    for at in range(len(line) - 1, -1, -1):
        depth += (line[at] == ")") - (line[at] == "(")
        if depth == 0 and line[at] == "(":
            return re.split(r"\W", line[:at].rstrip())[-1]
    return ""


def assigned_targets(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    """The left sides of `a, b[n] = …`, of which a comma at this place is the first; nothing where it is none."""
    first = at - 1
    while first > 0 and not (tokens[first].kind is T.NAME and _behind(tokens, first) == at):
        first -= 1
    found: list[str] = []
    start, end = first, at
    while True:
        found.append(tokens[start].span.to(tokens[end - 1].span).text)
        if not tokens[end].is_op(",") or tokens[end + 1].kind is not T.NAME:
            break
        start, end = end + 1, _behind(tokens, end + 1)
    return tuple(found) if tokens[end].is_op("=") and len(found) > 1 else ()


def _behind(tokens: Sequence[Token], name: int) -> int:
    """The token behind a name and its brackets, if it has any."""
    at, depth = name + 1, 0
    while depth or tokens[at].is_op("["):
        if tokens[at].kind in {T.END, T.NEWLINE}:
            break
        depth += tokens[at].is_op("[") - tokens[at].is_op("]")
        at += 1
        if not depth:
            break
    return at


def guarded(text: str, names: Collection[str]) -> tuple[str, ...]:
    """The lines of `if c:` … `else:` … with guards; nothing where a condition is about more than `names`."""
    found: list[str] = []
    before: list[str] = []
    guard = ""
    for line in (raw.partition("#")[0].strip() for raw in text.split("\n")):
        head = _BRANCH.fullmatch(line)
        statement = line if head is None else head["rest"].strip()
        if head is not None:
            own = (head["test"] or "").strip()
            read = set(re.findall(r"\w+", _QUOTED.sub("", own)))
            if read.difference(names, ("not", "and", "or")):
                return ()
            guard = " and ".join([*before, own] if own else before)
            before.append(f"not ({own})" if " " in own else f"not {own}")
        if statement and _STATEMENT.fullmatch(statement):
            found.append(f"{statement} if {guard}")
        elif statement:
            return ()
    return tuple(found)


def _column(token: Token) -> int:
    return len(_before(token))
