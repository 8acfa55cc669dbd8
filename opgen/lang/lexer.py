"""Formula text in, tokens with spans out.

Characters that people type by mistake (`^`, `&&`, a typographic minus) become a diagnostic that names what to write
instead, and a token that stands for what was meant; where nobody can tell what was meant it is `BAD`, and the rest of
the statement is not judged, so that one slip gives one message. Newlines inside brackets are no tokens; comments are
none either.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from opgen.diagnostics.letters import as_declared
from opgen.diagnostics.model import Bag, Hint, Span
from opgen.lang import exponentials, signs
from opgen.lang.dots import dotted, lines_meant
from opgen.lang.habits import DOTS, EACH, over_lines
from opgen.lang.latex import SIGNS, subscripted
from opgen.lang.latex import hints as latex_hints
from opgen.lang.latex_lines import norm_between, whole_line
from opgen.lang.latex_lines import told as told_of
from opgen.lang.run_on import run_on
from opgen.lang.runs import is_below_0, is_iterator, run_between
from opgen.lang.sampling import distributed
from opgen.schema.formula import Formula


class T(StrEnum):
    """What a token is."""

    NUMBER = "number"
    NAME = "name"
    TEXT = "text"
    OP = "operator"
    NEWLINE = "end of line"
    BAD = "what has been reported"
    END = "end of the formula"


@dataclass(frozen=True, slots=True)
class Token:
    kind: T
    text: str
    span: Span

    def is_op(self, *texts: str) -> bool:
        return self.kind is T.OP and self.text in texts

    def is_word(self, *texts: str) -> bool:
        return self.kind is T.NAME and self.text in texts


_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\f\v\u00a0]+|\#[^\n]*)
      | (?P<newline>\n)
      | (?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<text>"[^"\n]*"|'[^'\n]*')
      | (?P<op>\.\.\.|\*\*|//|==|!=|<<|>>|<=|>=|<>|\+=|\*=|\.(?=[A-Za-z])|=(?![<>])|[-+*/%<>()\[\],:@?])
    """,
    re.VERBOSE,
)

_BARS = {
    "||": ("||", ""),
    "|": ("|", "abs"),
    "\u2016": ("\u2016", ""),
    "\\|": ("\\|", ""),
    "\u230a": ("\u230b", "floor"),
    "\u2308": ("\u2309", "ceil"),
}  # what a pair of them around a value means; no function where that takes an index
_SIGNS = {
    "\u221a": "a root is written `sqrt(x)`",
    "\u221b": "a root is written `cbrt(x)`",
    "\u222b": "an integral is a sum over its points: `sum[n](x[n])*h`, with the step `h`",
    "\u00b1": "write a statement for each sign, one with `+` and one with `-`",
    "\u2213": "write a statement for each sign, one with `+` and one with `-`",
    "\u2020": "the adjoint of a matrix is `conj(x[j, i])`",
    "\u2202": "a derivative is derived, or stated under `backward`",
    "\u2207": "a derivative is derived, or stated under `backward`",
}
_DOTTED = re.compile(r"\.([-+*/^]|[<>=!]=?|\()")
_CONTINUED = re.compile(r"\\[ ]*\n[ ]*")  # of Python and C
_GROUPS = "grouping is written with parentheses, and a sum over an index as `sum[j](…)`"
_UNCLEAR = ("&", "|")  # which stand for one thing or another


def tokenize(f: Formula, bag: Bag) -> list[Token]:
    """The tokens of a formula, the last one `END`; newlines at bracket depth 0 are tokens."""
    tokens: list[Token] = []
    at, depth, text = 0, 0, f.text
    bad = False  # in a statement that is given up
    own: set[str] = set()  # the names in a statement so far
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or (match.lastgroup == "text" and _is_transposed(text, at, tokens)):
            at = at + 1 if bad else _slip(f, at, bag, tokens)
            bad = bad or (tokens[-1:] != [] and tokens[-1].kind is T.BAD)
            continue
        start, at = at, match.end()
        kind = match.lastgroup
        if kind == "blank":
            continue
        span = f.span(start, at)
        if kind == "newline":
            if depth == 0 and tokens and tokens[-1].kind is not T.NEWLINE:
                tokens.append(Token(T.NEWLINE, "\n", span))
                bad = False
                own.clear()
            continue
        piece = match.group()
        if piece == "**" and (end := _exponential(f, start, at, Bag() if bad else bag, tokens)) is not None:
            at = end
            continue
        if kind == "op":
            depth = max(depth + (piece in "([") - (piece in ")]"), 0)
        elif kind == "name":
            own.add(piece)
        elif kind == "number" and not bad and at < len(text) and (text[at].isalpha() or text[at] == "_"):
            if (end := _of_digits(f, start, at, bag, tokens, own)) is not None:
                at = end
                continue
            tokens.append(Token(T.NUMBER, piece, span))
            end, meant = run_on(f, start, at, bag, own)
            if meant is not None:
                token = Token(T.OP, meant, span) if meant else Token(T.BAD, f.text[at:end], f.span(at, end))
                tokens.append(token)
                bad = bad or not meant
            at = end
            continue
        tokens.append(Token(_KINDS[str(kind)], piece, span))
    tokens.append(Token(T.END, "", f.span(len(text), len(text))))
    return tokens


_KINDS = {"number": T.NUMBER, "name": T.NAME, "text": T.TEXT, "op": T.OP}


def _of_digits(f: Formula, start: int, at: int, bag: Bag, tokens: list[Token], own: Container[str]) -> int | None:
    """Report `4.1d-1` and `0xFF`, unless something may be called so; it goes on as if the number meant stood there."""
    read, word = signs.number(f.text, start, at), signs.word(f.text, at)
    if read is None or word in own or signs.names(word, f.source.text):
        return None
    (found, label), span = read, f.span(start, read[0].end)
    hint = Hint(f"write `{found.shown}`", span.text, found.shown)
    bag.error("OPG201", f"`{span.text}` is no number", span, label=label, hints=(hint,))
    return _instead(f, found, start, bag, tokens)


def _sign(f: Formula, at: int, bag: Bag, tokens: list[Token], slip: tuple[str, str, str]) -> int:
    typed, meant, hint = slip
    end, whole = at + len(typed), signs.of_function(f.text, at) if typed == "^" else None
    several = signs.powers(f.text, at) if typed == "^" and whole is None else whole
    if (
        typed == "^"
        and whole is None
        and f.text.startswith("{", end)
        and (line := whole_line(f.text, at, f.source.text))
    ):
        several = f"a power is written `**`: `{line}`"
    several = "" if typed == "^" and whole is None and dotted(f.text, at) else several
    several = "" if meant == "pi" and tokens and tokens[-1].is_op("*") and tokens[-1].span.text != "*" else several
    if several != "":  # told with the first one
        told = whole or (hint if typed in _UNCLEAR else Hint(several or hint, typed, _apart(f.text, at, end, meant)))
        code, message = "OPG202" if typed == "^" else "OPG201", f"`{typed}` is not an operator of the formula language"
        bag.error(code, message, f.span(at, end), hints=(told,))
    lost = whole is not None or (typed == "^" and f.text.startswith("{", end))
    kind = T.BAD if lost else T.NAME if meant.isalpha() else T.OP
    tokens.append(Token(kind, meant, f.span(at, end)))
    return end


def _slip(f: Formula, at: int, bag: Bag, tokens: list[Token]) -> int:
    """Report a character the language does not have; go on as if what was meant stood there."""
    hints: tuple[str, ...] = ()
    for told in (_of_paper, _between_bars, _below, _told_later):
        if (end := told(f, at, bag, tokens)) is not None:
            return end
    if part := distributed(f.text, at):  # told by the parser
        tokens.append(Token(T.NAME if part.isalpha() else T.OP, part, f.span(at, at + 1)))
        return at + 1
    if (slip := next((s for s in signs.SLIPS if f.text.startswith(s[0], at)), None)) is not None:
        return _sign(f, at, bag, tokens, slip)
    if (end := _continued(f, at, bag)) is not None:
        return end
    char, end = f.text[at], at + 1
    if char in "{}" and is_iterator(f.text, at):
        tokens.append(Token(T.OP, char, f.span(at, end)))
        return end
    if is_below_0(f.text, at):
        tokens.append(Token(T.OP, ":", f.span(at, at + 2)))
        return at + 2
    if char in "\"'":
        while end < len(f.text) and f.text[end] != "\n":
            end += 1
        hints = (f"add the closing {char}",)
        bag.error("OPG201", "this string is not closed on its line", f.span(at, end), hints=hints)
        tokens.append(Token(T.TEXT, f.text[at:end] + char, f.span(at, end)))
        return end
    while end < len(f.text) and (f.text[end].isalnum() or f.text[end] == "_"):
        end += 1
    end = signs.ends_before(f.text, at, end)
    word = f.text[at:end]
    shown = f"`{word}`" if word.isprintable() else f"U+{ord(char):04X}"
    within = char == ";" and _is_in_parentheses(tokens)
    if char == ";":
        hints = ("what stands in parentheses is separated by commas" if within else _behind_semicolon(f.text[end:]),)
    elif char in SIGNS and (latex := told_of(f.text, at, f.source.text, latex_hints(f.text, at))):
        hints = latex
    elif char.isalpha():
        at, word = _whole_name(f, at, word, tokens)
        shown, named = f"`{word}`", as_declared(word, f.source.text, called=f.text[end : end + 1] == "(")
        hints = (f"names are made of ASCII letters, digits and `_`{f': `{named}`' if named else ''}",)
    elif char in _SIGNS:
        hints = (_SIGNS[char],)
    elif char in "{}$\\":
        hints = told_of(f.text, at, f.source.text, (_GROUPS,))
    elif char == "." and (operator := _DOTTED.match(f.text, at)):
        if not any(h.startswith(EACH) for told in bag.items for h in told.hints):
            hints = (f"{EACH}{lines_meant(f.text)}",)
            bag.error("OPG201", f"`{operator[0]}` is not part of the formula language", f.span(at, end), hints=hints)
        return end  # what follows the dot is meant
    elif char == ".":
        span, hints = run_between(f, at) or (f.span(at, end), (DOTS,))
        bag.error("OPG201", f"`{span.text}` is not part of the formula language", span, hints=hints)
        tokens.append(Token(T.BAD, word, f.span(at, end)))
        return end
    bag.error("OPG201", f"{shown} is not part of the formula language", f.span(at, end), hints=hints)
    if char == ";":
        kind, meant = (T.OP, ",") if within else (T.NEWLINE, "\n")
        tokens.append(Token(kind, meant, f.span(at, end)))
    else:
        tokens.append(Token(T.BAD, word, f.span(at, end)))
    return end


def _is_transposed(text: str, at: int, tokens: list[Token]) -> bool:
    """Whether a `'` stands behind a value, or one more or two, where MATLAB and Julia turn a matrix round."""
    behind = bool(tokens) and tokens[-1].kind is not T.TEXT and _ends_value(tokens[-1])
    value = text[max(at - 3, 0) : at].rstrip("'")[-1:]
    return text[at] in "'\u1d40\u22a4" and behind and (value.isalnum() or value in ("_", ")", "]"))


def _told_later(f: Formula, at: int, bag: Bag, tokens: list[Token]) -> int | None:
    """`a'`, a matrix turned round, as an attribute, and `sum[i; i > 0](…)` with `if`, which the parser reports."""
    if f.text[at] in ";|" and signs.is_such_that(f.text, at):
        tokens.append(Token(T.NAME, "if", f.span(at, at + 1)))
        return at + 1
    if not _is_transposed(f.text, at, tokens):
        return None
    span = f.span(at, at + 1)
    tokens += (Token(T.OP, ".", span), Token(T.NAME, "'", span))
    return at + 1


def _is_in_parentheses(tokens: Sequence[Token]) -> bool:
    """Whether the last bracket that is open in a statement is a parenthesis."""
    closed = 0
    for token in takewhile(lambda t: t.kind is not T.NEWLINE, reversed(tokens)):
        closed += token.is_op(")", "]") - token.is_op("(", "[")
        if closed < 0:
            return token.is_op("(")
    return False


def _behind_semicolon(text: str) -> str:
    more = text.partition("\n")[0].strip()
    return "write one statement per line" if more else "a line ends without it: leave it away"


def _whole_name(f: Formula, at: int, word: str, tokens: list[Token]) -> tuple[int, str]:
    """A name from its first letter on, where the letters of it that the language has were taken for one."""
    if tokens and tokens[-1].kind is T.NAME and tokens[-1].span.end == f.span(at, at + 1).start:
        word = tokens[-1].text + word
        at -= len(tokens.pop().text)
    return at, word


def _of_paper(f: Formula, at: int, bag: Bag, tokens: list[Token]) -> int | None:
    """Report `x²`, `√x` and their like, and `e^x`; it goes on as if what was meant stood there."""
    if f.text[at] == "^":
        return _exponential(f, at, at + 1, bag, tokens)
    found = signs.meant(f.text, at)
    if found is None:
        return None
    typed = f.text[found.start : found.end]
    hint = Hint(f"write `{found.shown}`", typed, found.spelt(f.text))
    message = f"`{f.text[at : found.end] if found.start == at else typed}` is not part of the formula language"
    bag.error("OPG201", message, f.span(found.start, found.end), hints=(hint,))
    return _instead(f, found, at, bag, tokens)


def _exponential(f: Formula, at: int, exponent: int, bag: Bag, tokens: list[Token]) -> int | None:
    """Report `e^x` or `e**x`, whose operator stands at a place, where nothing is called `e`."""
    start = len(f.text[:at].rstrip()) - 1
    if not tokens or not tokens[-1].is_word("e") or signs.IS_NAMED_E.search(f.source.text):
        return None
    if (found := signs.exponential(f.text, start, exponent)) is None:
        return None
    exponentials.tell(f, found, bag)
    return _instead(f, found, at, bag, tokens)


def _instead(f: Formula, found: signs.Meant, at: int, bag: Bag, tokens: list[Token]) -> int:
    """The tokens of what is meant, in place of a name in front where that is part of it."""
    while found.start < at and tokens and tokens[-1].span.start >= f.offsets[found.start]:
        tokens.pop()
    text, offsets = "", list[int]()
    for piece in found.pieces:
        text += piece if isinstance(piece, str) else f.text[slice(*piece)]
        here = f.offsets[min(found.start + len(offsets), found.end - 1)]
        offsets += [here] * len(piece) if isinstance(piece, str) else f.offsets[slice(*piece)]
    tokens += tokenize(Formula(text, f.source, (*offsets, f.offsets[found.end])), bag)[:-1]
    return found.end


def _below(f: Formula, at: int, bag: Bag, tokens: list[Token]) -> int | None:
    """Report `a_{ij}` with whatever else of LaTeX stands on its line; what is named is `a`."""
    previous = tokens[-1] if tokens else None
    if f.text[at] != "{" or previous is None or previous.kind is not T.NAME or not previous.text.endswith("_"):
        return None
    start = at - len(previous.text)
    found = subscripted(f.text[start:])
    if found is None or previous.span != f.span(start, at):
        return None
    typed, right = found
    span = f.span(start, start + len(typed))
    first = Hint(f"an element has its indices in brackets: `{right}`", typed, right)
    more = told_of(f.text, at, f.source.text, latex_hints(f.text, at))
    others = [h for h in more if not h.startswith(first.partition("`")[0])]
    bag.error("OPG201", f"`{typed}` is not part of the formula language", span, hints=(first, *others))
    tokens[-1] = Token(T.NAME, previous.text.rstrip("_"), previous.span)
    tokens.append(Token(T.BAD, typed, span))
    return start + len(typed)


def _continued(f: Formula, at: int, bag: Bag) -> int | None:
    """Report a backslash at the end of a line, once for all the lines that go on so; it goes on as if they did."""
    found = _CONTINUED.match(f.text, at)
    if found is None:
        return None
    before, _, line = f.text[:at].rpartition("\n")
    if not before.rstrip().endswith("\\"):
        following = f.text[found.end() :].split("\n")
        last = next((line for line in following if not line.rstrip().endswith("\\")), "")
        bag.error("OPG201", "a `\\` does not continue a line", f.span(at, at + 1), hints=(over_lines(line, last),))
    return found.end()


def _between_bars(f: Formula, at: int, bag: Bag, tokens: list[Token]) -> int | None:
    """Read `|x|` as `abs(x)`, where a value begins with a bar and ends before another one on its line."""
    typed = next((bar for bar in _BARS if f.text.startswith(bar, at)), None)
    if typed is None or (tokens and _ends_value(tokens[-1])):
        return None
    closing, function = _BARS[typed]
    start, line_end = at + len(typed), len(f.text[:at] + f.text[at:].partition("\n")[0])
    depth = 0
    for end in range(start, line_end):
        depth += (f.text[end] in "([") - (f.text[end] in ")]")
        if depth < 0 or f.text[end] == "#":
            return None
        if depth == 0 and end > start and f.text.startswith(closing, end):
            break
    else:
        return None
    after = end + len(closing)
    inner, whole = f.text[start:end].strip(), f.text[at:after]
    opened, closed = f.span(at, start), f.span(end, after)
    tokens_inside = tokenize(
        Formula(f.text[start:end], f.source, f.offsets[start : end + 1]), bag if function else Bag()
    )
    message = f"`{typed}…{closing}` is not part of the formula language"
    if not function:
        norm = norm_between(f.text, after, inner, f.source.text) or "norm[k](…)"
        bag.error("OPG201", message, f.span(at, after), hints=(f"a norm names its index: `{norm}`",))
        tokens.append(Token(T.BAD, whole, f.span(at, after)))
        return after
    right = f"{function}({inner})"
    bag.error("OPG201", message, f.span(at, after), hints=(Hint(f"write `{right}`", whole, right),))
    tokens += (Token(T.NAME, function, opened), Token(T.OP, "(", opened), *tokens_inside[:-1], Token(T.OP, ")", closed))
    return after


def _ends_value(token: Token) -> bool:
    """Whether a value ends with a token, so that an operator follows it."""
    if token.kind is T.NAME:
        return not token.is_word("and", "or", "not", "if", "else")
    return token.kind in {T.NUMBER, T.TEXT, T.BAD} or token.is_op(")", "]")


def _apart(text: str, start: int, end: int, meant: str) -> str:
    """What takes the place of a stretch of text: a word with blanks where it would touch another."""
    if not meant.isalpha():
        return meant
    before, after = text[start - 1 : start], text[end : end + 1]
    return f"{' ' * (before.isalnum() or before == '_')}{meant}{' ' * (after.isalnum() or after == '_')}"
