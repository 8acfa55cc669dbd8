"""Several results or tensors in one line, as other languages write them: what to write for `a, b = chunk(x, 2)`.

Text in, lines of help out, spelt with the tensors of the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from opgen.lang.axis_parts import SINGLE, parts_of_axis
from opgen.lang.commas import between_commas
from opgen.lang.habits import ORDERED, RESULTS, TUPLE
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Expr
from opgen.lang.places import ORDERS, largest
from opgen.lang.unparse import unparse
from opgen.lang.updates import free_name
from opgen.lang.vocabulary import FIRST, SPARE, Vocabulary

_CALL = re.compile(r"=\s*(?:\w+\.)*(?P<fn>\w+)\(\s*(?P<of>\w+)")
_METHOD = re.compile(r"=\s*(?P<of>\w+)\.(?P<fn>\w+)\(")
_BOTH = {"var_mean": ("var", "mean"), "std_mean": ("std", "mean"), "aminmax": ("amin", "amax")}
_PAIR = re.compile(
    rf"=\s*(?:(?P<of>\w+)\.)?(?:\w+\.)*(?P<fn>{'|'.join(_BOTH)})\((?P<given>(?:[^()]|\([^()]*\))*)\)\s*(?:#.*)?$"
)
_EXTREME = re.compile(r"=\s*(?P<fn>max|min)(?P<rest>\[\s*\w+\s*\]\(.*\))\s*")
_BINDERS = re.compile(r"\w+\[([^\[\]]*)\]\(")
_READ = re.compile(r"(?<!\w)(?P<of>[a-z]\w*)(?:\[(?P<items>(?:[^\[\]]|\[[^\[\]]*\])*)\](?!\()|(?![\w\[(]))")
_LIMITED = re.compile(r"([a-z]\w*)\s*<\s*([^<>=]+)")  # an index and how far it runs
_BARE = re.compile(r"`(?P<target>[a-z]\w*) = (?P<value>[^`…]+)`")  # a statement without indices on its left
_HALVES = ("chunk", "split", "tensor_split", "hsplit")


def unpacked(
    words: Vocabulary, targets: Sequence[str], line: str, read: Callable[[str], Expr | None]
) -> tuple[str, ...]:
    """How `targets = line` is written; what is unpacked is read further down at the indices that it has there.

    `read` reads a formula in the notation of other libraries.
    """
    hints = _both_results(words, targets, line, read) or _unpacked(words, targets, line)
    for name, at in re.findall(r"`(\w+)\[([^\[\]]*)\] = ", " ".join(hints)):
        letters = [re.match(r"\.\.\.|[a-z]\w*", item) for item in between_commas(at)]
        if all(letters):
            words.letters.setdefault(name, tuple(m[0] for m in letters if m is not None))
    return hints


def _both_results(
    words: Vocabulary, targets: Sequence[str], line: str, read: Callable[[str], Expr | None]
) -> tuple[str, ...]:
    """A statement for each of `var_mean(x, dim=-1)` and its like; nothing for any other call."""
    call = _PAIR.search(line)
    if call is None or len(targets) != 2 or any("[" in t for t in targets):
        return ()
    given = between_commas(call["given"])
    of, *rest = [call["of"], *given] if call["of"] in words.letters else given or [""]
    keywords = [a for a in rest if not re.match(r"keepdims?\s*=", a)]
    axes = [a for a in keywords if not re.match(r"(unbiased|correction)\s*=|(True|False)$", a)]
    first, second = _BOTH[call["fn"]]
    lines: list[str] = []
    for name, fn, given in zip(targets, (first, second), (keywords, axes), strict=True):
        value = read(f"torch.{fn}({', '.join([of, *given])})")
        if value is None:
            return ()
        whole = spelled(words, value)
        own = layout(words, whole)
        left = f"[{', '.join(own)}]" if own and own != ("...",) else ""
        lines.append(f"`{name}{left} = {unparse(whole)}`")
    return (f"a statement for each: {' and '.join(lines)}",)


def _unpacked(words: Vocabulary, targets: Sequence[str], line: str) -> tuple[str, ...]:
    """The same of anything else."""
    value = line[_equals(line) + 1 :].partition("#")[0].strip()
    if len(values := between_commas(value)) == len(targets):
        plain, limits = _with_plain_indices(values)
        stated = (f"`{_stated(words, t, v, limits)}`" for t, v in zip(targets, plain, strict=True))
        return (f"a statement for each: {', '.join(stated)}",)
    if components := _components(words, targets, value):
        return (f"a statement for each component: {', '.join(components)}",)
    extreme = _EXTREME.fullmatch(f"={value}")
    if extreme is not None and len(targets) == 2:
        fn, rest = extreme["fn"], extreme["rest"]
        first, second = (
            _stated(words, t, f, {}) for t, f in zip(targets, (f"{fn}{rest}", f"arg{fn}{rest}"), strict=True)
        )
        return (f"a statement for each: `{first}` and `{second}`",)
    if (places := _places_of(words, targets, value)) is not None:
        return (places,)
    names = [t.partition("[")[0] for t in targets]
    method = _METHOD.search(line)
    call = method if method is not None and method["of"] in words.letters else _CALL.search(line)
    fn, of = ("", "") if call is None else (call["fn"], call["of"])
    items = _letters(words, of, names)
    if fn in ORDERS or any(re.match(rf"{f}\s*\[", value) for f in ORDERS):
        made = ", ".join(f"`{s}`" for s in largest(words, targets, value) if not s.startswith("_["))
        return (f"a statement for each: {made}",) if made else (TUPLE, ORDERED)
    if fn in (*_HALVES, *SINGLE) and len(names) > 1 and items and of in words.shapes:
        share, arguments = _share(words, words.shapes[of][-1], len(names)), value.partition("(")[2].rpartition(")")[0]
        arguments = arguments if call is method else arguments.partition(",")[2]
        return parts_of_axis(names, fn, of, items, words.shapes[of], arguments, share, words.listed)
    if not items or items[-1] == "..." or of not in words.shapes:
        return (TUPLE, RESULTS) if fn in ("max", "min") else (TUPLE,)
    axis = items[-1]
    rest = ", ".join(items[:-1])
    if fn in ("max", "min") and len(names) == 2:
        left = f"[{rest}]" if rest else ""
        value, place = (f"`{name}{left} = {f}[{axis}]({of}[{', '.join(items)}])`"
                        for name, f in zip(names, (fn, f"arg{fn}"), strict=True))  # fmt: skip
        return (f"a statement for each: {value} and {place}",)
    return (TUPLE,)


def _with_plain_indices(values: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """`x[h < H], x[h + H]` read at plain indices, and how far those run, which is written where they are bound."""
    limits: dict[str, str] = {}

    def step(m: re.Match[str]) -> str:
        items = [_LIMITED.fullmatch(item) or item for item in between_commas(m["items"] or "")]
        limits.update({i[1]: i[2] for i in items if not isinstance(i, str)})
        shown = (i if isinstance(i, str) else i[1] for i in items)
        return m[0] if m["items"] is None else f"{m['of']}[{', '.join(shown)}]"

    return [_READ.sub(step, value) for value in values], limits


def _letters(words: Vocabulary, of: str, names: Sequence[str]) -> tuple[str, ...]:
    """The indices at which a tensor is read, with another letter for each that one of the `names` has."""
    letters = words.letters.get(of, ())
    taken, spare = (*letters, *names, *words.assigned), (*SPARE, *(f"k{k}" for k in range(2, 99)))
    free = (c for c in spare if c not in taken and not words.knows(c))
    return tuple(next(free) if i in names else i for i in letters)


def _components(words: Vocabulary, targets: Sequence[str], value: str) -> list[str]:
    """A statement for each name that stands for one place of a tensor, along its first dim or, failing that, its last
    one; none where neither has as many places as there are names.
    """
    whole = re.fullmatch(r"(\w+)(?:\[\s*(?:\.\.\.|:)?(?:\s*,\s*:)*\s*\])?", value)
    name = "" if whole is None else whole[1]
    shape, letters = words.shapes.get(name, ()), _letters(words, name, [t.partition("[")[0] for t in targets])
    at = next((k for k in (0, len(shape) - 1) if shape and shape[k] == str(len(targets))), None)
    if at is None or len(letters) != len(shape):
        return []
    rest = [*letters[:at], *letters[at + 1 :]]
    left = f"[{', '.join(rest)}]" if rest and rest != ["..."] else ""
    places = [", ".join([*letters[:at], str(k), *letters[at + 1 :]]) for k in range(len(targets))]
    pairs = zip(targets, places, strict=True)
    return [f"`{t if '[' in t else t + left} = {name}[{place}]`" for t, place in pairs]


def _places_of(words: Vocabulary, targets: Sequence[str], value: str) -> str | None:
    """`i[n], j[n] = argmax[h, w](x[n, h, w])`: the place in both dims at once, of which the two are parts."""
    call = re.fullmatch(r"(arg(?:max|min))\s*\[\s*(\w+)\s*,\s*(\w+)\s*\]\s*\((.*)\)", value)
    if call is None or len(targets) != 2:
        return None
    fn, first, second, body = call.groups()
    sizes = {i: size for a in re.finditer(r"(\w+)\[([^\[\]]*)\]", body)
             for i, size in zip(between_commas(a[2]), words.shapes.get(a[1], ()), strict=False)}  # fmt: skip
    read = {i: None for a in re.finditer(r"\w+\[([^\[\]]*)\]", body) for i in between_commas(a[1])}
    rest = [i for i in read if i not in (first, second) and (i.isidentifier() or i == "...") and not words.knows(i)]
    names = [t.partition("[")[0].strip() for t in targets]
    if first not in sizes or second not in sizes or first == second:
        return None
    high, low = sizes[first], sizes[second]
    index = next(c for c in ("k", *SPARE) if c not in read and c not in names and not words.knows(c))
    taken = (*names, *words.names, *words.shapes)
    whole = next(n for n in ("at", "place", f"{fn}_at", *(f"at{k}" for k in range(2, 99))) if n not in taken)
    body = re.sub(rf"\b{first}\b", f"{index}//{low}", re.sub(rf"\b{second}\b", f"{index} % {low}", body))
    left = f"[{', '.join(rest)}]" if rest else ""
    return (
        f"a position counts along one index, and the two are its parts: write"
        f" `{whole}{left} = {fn}[{index} < {high}*{low}]({body})`,"
        f" `{names[0]}{left} = {whole}{left}//{low}` and `{names[1]}{left} = {whole}{left} % {low}`"
    )


def _share(words: Vocabulary, size: str, count: int) -> str:
    """The dim that a size is so many times of, `H` of `G: 4*H`; empty where it is none."""
    match = re.fullmatch(rf"{count} \* (\w+)|(\w+) \* {count}", words.sizes.get(size, ""))
    return "" if match is None else match[1] or match[2]


def renamed_below(words: Vocabulary, targets: Sequence[str], below: str) -> tuple[list[str], tuple[str, ...]]:
    """The targets, with another name for each that is made of itself once more `below`, and that line as it is then."""
    made, hints = list(targets), list[str]()
    for k, target in enumerate(targets):
        name = target.partition("[")[0].strip()
        again = [*re.finditer(rf"^[ \t]*(?P<left>{name}\b[^=\n]*)=(?!=)(?P<value>[^\n#]*)", below, re.MULTILINE)]
        own = rf"\b{name}\b"
        if len(again) != 1 or not re.search(own, again[0]["value"]) or re.search(own, below[: again[0].start()]):
            continue
        new = free_name(words, name, 1)
        made[k] = target.replace(name, new, 1)
        line = f"{again[0]['left'].rstrip()} = {re.sub(own, new, again[0]['value']).strip()}"
        hints.append(f"`{name}` gets another value further down, which is made of this one: `{line}`")
    return made, tuple(hints)


def read_at_letters(words: Vocabulary, value: str) -> tuple[str, tuple[str, ...]]:
    """A value with each tensor read at its indices, and the indices that it has then."""
    free: dict[str, None] = {}
    bound = {i for m in _BINDERS.finditer(value) for i in re.findall(r"\w+", m[1])}

    def step(m: re.Match[str]) -> str:
        letters = words.letters.get(m["of"], ())
        if m["of"] in bound:
            return m[0]
        if m["items"] is None:  # a tensor alone
            free.update(dict.fromkeys(i for i in letters if i != FIRST))
            return f"{m['of']}[{', '.join(letters)}]" if letters not in ((), ("...",)) else m["of"]
        items = written = between_commas(m["items"])
        if len(written) <= len(letters) + ("..." in written) and "..." not in letters:
            if written[0] == "...":
                items = [*letters[: len(letters) - len(written) + 1], *written[1:]]
            elif ":" in written:
                items = [*(i if i != ":" else letters[k] for k, i in enumerate(written)), *letters[len(written) :]]
        for item in items:
            names = re.findall(r"\.\.\.|\b[a-z]\w*\b(?!\s*[\[(])", item)
            free.update(dict.fromkeys(i for i in names if i not in bound and not words.knows(i)))
        return f"{m['of']}[{', '.join(items)}]"

    spelt = value if re.search(r"\.[A-Za-z_]", value) else _READ.sub(step, value)
    return spelt, (*free,)


def at_indices(words: Vocabulary, hint: str) -> str:
    """A hint whose statements read tensors at their indices, where these have named dims and were read without."""

    def step(m: re.Match[str]) -> str:
        free = read_at_letters(words, m["value"])[1]
        return f"`{_stated(words, m['target'], m['value'], {})}`" if free and {*free} != {"..."} else m[0]

    return _BARE.sub(step, hint)


def _stated(words: Vocabulary, target: str, value: str, limits: Mapping[str, str]) -> str:
    """`target = value` with the indices at which the value is read, where the target names none, and their limits."""
    spelt, free = read_at_letters(words, value)
    name, _, items = target.partition("[")
    kept = bool(items) or target in free or ":" in spelt
    left = between_commas(items.rstrip().removesuffix("]")) if kept else free
    shown = [f"{i} < {limits[i]}" if i in limits else i for i in left]
    made = f"{name.rstrip()}[{', '.join(shown)}]" if shown and shown != ["..."] else name
    return f"{target if shown == [*left] and kept else made} = {value if kept else spelt}"


def _equals(line: str) -> int:
    """Where the sign of an assignment stands; indices may be bounded left of it, by other signs."""
    return next((m.start() for m in re.finditer(r"(?<![=<>!])=(?!=)", line)), -1)
