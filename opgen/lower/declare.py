"""The declarations of a spec with their formulas parsed and their names checked: what every statement is read against.

Comes before variants: nothing here depends on which optional inputs are present.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opgen.diagnostics.model import Bag, Span
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir import text
from opgen.ir.complex_functions import PARTS
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind, Shape
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import Dim
from opgen.lang.circles import circles, with_ends
from opgen.lang.head import is_anonymous, parse_head
from opgen.lang.nodes import Assign, Binder, Expr
from opgen.lang.parser import parse_expression, parse_statements
from opgen.lang.results import MORE, STATED, results
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary, other_letters
from opgen.lang.walk import statement_names
from opgen.lower.domain import end_of
from opgen.lower.shape import idle_in, input_shapes, named_size, named_within, shapes_of_outputs
from opgen.lower.whole_parts import WholeParts, with_parts
from opgen.schema.elsewhere import Callee
from opgen.schema.formula import Formula, Word
from opgen.schema.model import FunctionSpec, InputSpec, OpSpec, OutputSpec, ParamSpec

# Words of the language that look like functions; `pow` has a row without a name of its own in formulas.
DRAWS = ("uniform", "normal", "integer")
SPECIAL = ("where", "cast", "given", "pad", *DRAWS)
CALLABLE = tuple(f.name for f in FUNCTIONS.values() if not (f.infix or f.internal) or f.name == "pow")

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")


_LEFT = re.compile(r"^[^=\n]*=", re.MULTILINE)
_ASSIGNED = re.compile(r"^[ \t]*([a-z]\w*)[ \t]*(?:\[[^\]\n]*\])?[ \t]*=(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A function of the spec: its formula, its names in other libraries, and its stated derivatives.

    There is a formula or a name elsewhere, and one derivative per argument or none.
    """

    name: str
    params: tuple[str, ...]
    value: Expr | None
    partials: tuple[Expr, ...] | None
    span: Span
    spellings: tuple[tuple[str, str], ...] = ()

    @property
    def symbol(self) -> str:
        """What applications of it are called: never like a row of the table of functions."""
        return f"{self.name}_of_spec" if self.name in FUNCTIONS else self.name

    @property
    def opaque(self) -> bool:
        """Does it stay a call, rather than being replaced by its formula at once?"""
        return self.partials is not None or bool(self.spellings)


@dataclass(frozen=True, slots=True)
class Declarations:
    """Everything a spec declares, by name, in order of declaration."""

    spec: OpSpec
    inputs: dict[str, InputSpec]
    shapes: dict[str, Shape]
    absent: dict[str, Expr]
    params: dict[str, ParamSpec]
    defaults: dict[str, tuple[Expr, ...]]
    sizes: tuple[str, ...]  # dims of input shapes
    derived: dict[str, Expr]
    parts: tuple[WholeParts, ...]  # dims of input shapes that derived ones are whole parts of
    functions: dict[str, LocalFunction]
    broken: frozenset[str]  # functions whose declaration has a mistake
    forward: tuple[Assign, ...]
    backward: tuple[Assign, ...]
    outputs: tuple[str, ...]
    output_shapes: dict[str, Shape]
    output_spans: dict[str, Span]
    lost: tuple[str, ...]  # names whose statements could not be read
    words: Vocabulary
    kinds: tuple[tuple[str, Kind], ...] = ()  # of outputs that some variants would give another kind than others

    def targets(self) -> dict[str, Span]:
        """The names that `forward` assigns, with their first place."""
        found: dict[str, Span] = {}
        for s in self.forward:
            found.setdefault(s.target.name, s.target.name_span)
        return found

    def known_dims(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.sizes, *self.derived)))


def declare(spec: OpSpec, bag: Bag) -> Declarations | None:
    """Parse and check the declarations; None where a block cannot be read at all."""
    inputs = {str(t.name): t for t in spec.inputs}
    params = tuple(str(p.name) for p in spec.params)
    taken = {i.text.strip() for t in spec.inputs for i in t.shape or ()} | {str(d.name) for d in spec.dims}
    shapes = input_shapes(spec, params, bag, {*taken})
    sizes = tuple(dict.fromkeys(d.name for s in shapes.values() for d in s if isinstance(d, Dim)))
    stated = {str(d.name): e for d in spec.dims if (e := parse_expression(d.value, bag)) is not None}
    derived, parts = with_parts(stated, sizes)
    sizes += tuple(n for d in spec.dims if (n := str(d.name)) not in (*derived, *sizes))  # that could not be read
    taken |= {*derived}
    functions = {f.name: f for s in spec.functions if (f := _function(s, params, bag)) is not None}
    absent = {
        n: e for n, t in inputs.items() if t.absent is not None and (e := parse_expression(t.absent, bag)) is not None
    }
    words = _vocabulary(spec, shapes, sizes, derived, taken)
    words.signatures = {name: function.params for name, function in functions.items()}
    forward, lost = _block(spec.forward, words, bag)
    words.gradients = [f"grad_{n}" for n, t in inputs.items() if t.dtype in ("float", "complex")]
    outputs = _outputs(spec, forward, lost, bag)
    _alike(words, outputs)
    backward, lost_back = _block(spec.backward if forward else None, words, bag)
    lost = (*lost, *lost_back)
    known = tuple(dict.fromkeys((*sizes, *derived, *named_within(t.shape for t in spec.inputs))))
    declared = shapes_of_outputs(spec, params, known, bag)
    defaults = {str(p.name): d for p in spec.params if (d := _default(p, bag, words.shapes)) is not None}
    if not forward and not isinstance(spec.forward, Callee):
        return None
    spans = {str(o.name): o.span for o in spec.outputs or ()}
    found = Declarations(
        spec, inputs, shapes, absent, {str(p.name): p for p in spec.params}, defaults,
        tuple(s for s in sizes if s not in derived), derived, parts, functions,
        frozenset(re.sub(r"\W.*", "", s.name) for s in spec.functions if s.name not in functions), forward, backward,
        outputs, declared, spans, tuple(dict.fromkeys(lost)), words,
    )  # fmt: skip
    _check_saved(found, bag)
    return found


def _block(block: Formula | Callee | None, words: Vocabulary, bag: Bag) -> tuple[tuple[Assign, ...], tuple[str, ...]]:
    """The statements of a block, and the names of those that could not be read."""
    found, lost = parse_statements(block, bag, words) if isinstance(block, Formula) else ((), ())
    return with_ends(found, words.names), lost


def _vocabulary(
    spec: OpSpec,
    shapes: dict[str, Shape],
    sizes: tuple[str, ...],
    derived: dict[str, Expr],
    taken: set[str],
) -> Vocabulary:
    """What statements may name, for what is proposed instead of one that cannot be read."""
    params = [str(p.name) for p in spec.params]
    stated = {str(o.name): STATED if o.dtype is not None else MORE if o.shape else "" for o in spec.outputs or ()}
    block, gradients = (b.text if isinstance(b, Formula) else "" for b in (spec.forward, spec.backward))
    kinds = {k: {str(t.name) for t in spec.inputs if t.kind == k} for k in ("bool", "int", "complex")}
    become = {} if spec.module is None else {str(b): str(o) for b, o in spec.module.updates}
    buffers = {} if spec.module is None else {str(b): become.get(b, f"next_{b}") for b, _ in spec.module.buffers}
    words = Vocabulary(
        sizes={n: unparse(e) for n, e in derived.items()},
        names=(*params, *stated, *sizes, *derived),
        assigned={n for m in _LEFT.finditer(f"{block}\n{gradients}") for n in re.findall(r"\w+", m[0])},
        functions=(*CALLABLE, *SPECIAL, *PARTS, *(f.name for f in spec.functions)),
        reductions={name: row.keeps_index for name, row in (REDUCTIONS | ORDERS).items()},
        further={name: row.takes for name, row in ORDERS.items() if row.takes},
        settings=[str(p.name) for p in spec.params if p.type == "bool" or p.choices],
        choices={str(p.name): [*map(str, p.choices)] for p in spec.params if p.choices},
        lists={str(p.name) for p in spec.params if p.length is not None},
        listed=_listed(spec), masks=kinds["bool"], integers=kinds["int"], complexes=kinds["complex"],
        inputs={*shapes} - {*stated, *buffers},
        given=shapes,
        buffers={b: new for b, new in buffers.items() if b in shapes and b not in stated},
        ends={str(t.name): end for t in spec.inputs if t.kind == "int" and (end := end_of(t.domain)) is not None},
        outputs=stated or dict.fromkeys(results(block)),
        results={str(o.name): tuple(i.text.strip() for i in o.shape) for o in spec.outputs or () if o.shape},
        instead=other_letters((*sizes, *derived), (*shapes, *params, *_ASSIGNED.findall(block))),
    )  # fmt: skip
    for name, shape in shapes.items():
        words.declare(name, [text.position(size) for size in shape])
    for name, items in ((str(t.name), t.shape or ()) for t in spec.inputs):  # as if what is said of it were done
        meant = [named_size(i.text.strip(), taken, [str(p.name) for p in spec.params], idle_in(spec)) for i in items]
        if any(meant) and len(meant) == len(words.shapes[name]):
            words.declare(name, [m.name if m else s for m, s in zip(meant, words.shapes[name], strict=True)])
            parts = {n: formula for m in meant if m for n, formula in m.parts.items()}
            words.sizes = {**parts, **words.sizes}
            words.names = (*words.names, *parts)
    return words


def _listed(spec: OpSpec) -> tuple[str, ...]:
    """The inputs where they stand in a list, which holds names alone."""
    spans = [t.name.span for t in spec.inputs if isinstance(t.name, Word)]
    behind = (span.source.text[span.end :].lstrip("\"' ") for span in spans)
    return tuple(str(t.name) for t in spec.inputs) if not any(text.startswith(":") for text in behind) else ()


def _alike(words: Vocabulary, outputs: tuple[str, ...]) -> None:
    """Gradients with respect to outputs are read as these are."""
    for known in (words.shapes, words.letters):
        known |= {f"grad_{n}": known[n] for n in outputs if n in known}


def _default(p: ParamSpec, bag: Bag, shapes: Mapping[str, tuple[str, ...]]) -> tuple[Expr, ...] | None:
    """The parsed default; None where there is none or where it is a word."""
    if p.default is None or p.type == "str":
        return None
    formulas = p.default if isinstance(p.default, tuple) else (p.default,)
    found = tuple(parse_expression(f, bag, shapes=shapes) for f in formulas)
    return tuple(e for e in found if e is not None) if None not in found else None


def _function(s: FunctionSpec, params: tuple[str, ...], bag: Bag) -> LocalFunction | None:
    head = parse_head(s.head, bag, s.value, params)
    told = head is None and s.value is not None and is_anonymous(s.value.text)
    known = () if head is None else (*head.params, *params)
    value = None if s.value is None or told else parse_expression(s.value, bag, known)
    parsed = [(arg, parse_expression(f, bag, known)) for arg, f in s.derivatives]
    if head is None or (value is None and (s.value is not None or not s.extern)) or any(e is None for _, e in parsed):
        return None
    if head.name in CALLABLE or head.name in SPECIAL or head.name in REDUCTIONS or head.name in PARTS:
        message = f"`{head.name}` is a function of the language already"
        bag.error("OPG206", message, head.span, hints=("leave it away, or rename it",))
        return None
    partials: list[Expr] = []
    if parsed:
        stated: dict[str, Expr] = {}
        for arg, e in parsed:
            name = head.params[0] if arg is None and len(head.params) == 1 else arg
            if name is None:
                bag.error(
                    "OPG234", f"`{head.name}` has several arguments and one derivative", s.derivatives[0][1].whole,
                    hints=(f"write `derivative: {{{', '.join(f'{p}: …' for p in head.params)}}}`",),
                )  # fmt: skip
                return None
            if name not in head.params:
                span = getattr(name, "span", head.span)
                left = [p for p in head.params if p not in (str(a) for a, _ in parsed)]
                hints = did_you_mean(name, head.params) or tuple(f"did you mean `{p}`?" for p in left if len(left) == 1)
                hints = hints or (f"its arguments are {listed(head.params, 'and')}",)
                bag.error("OPG234", f"`{head.name}` has no argument `{name}`", span, hints=hints)
                return None
            assert e is not None
            stated[str(name)] = e
        for p in head.params:
            if p not in stated:
                bag.error(
                    "OPG234", f"the derivative of `{head.name}` with respect to `{p}` is not stated", s.span,
                    hints=(f"add `{p}: …` under `derivative` (0 if it is none)",),
                )  # fmt: skip
                return None
            partials.append(stated[p])
    spellings = tuple((key, str(name)) for key, name in s.extern)
    return LocalFunction(head.name, head.params, value, tuple(partials) or None, head.span, spellings)


def _outputs(spec: OpSpec, forward: tuple[Assign, ...], lost: tuple[str, ...], bag: Bag) -> tuple[str, ...]:
    """The listed outputs, or the names assigned and never read."""
    assigned = tuple(dict.fromkeys(s.target.name for s in forward))
    if isinstance(spec.forward, Callee):
        return tuple(str(o.name) for o in spec.outputs or ())
    if spec.outputs is not None:
        for o in spec.outputs:
            if o.name not in assigned and o.name not in lost:
                hints = did_you_mean(o.name, assigned) or _never_assigned(spec.outputs, o.name, forward)
                message = f"the output `{o.name}` is never assigned"
                bag.error("OPG218", message, o.span, label="no statement", hints=hints)
        return tuple(str(o.name) for o in spec.outputs if o.name in assigned)
    together = {n: names for names in circles(forward) for n in names}
    read = {
        name for s in forward for name in statement_names(s)
        if (name != s.target.name or s.op != "=") and name not in together.get(s.target.name, ())
    }  # fmt: skip
    return tuple(n for n in assigned if n not in read)


def _never_assigned(outputs: Sequence[OutputSpec], name: str, forward: tuple[Assign, ...]) -> tuple[str, ...]:
    """What is said of an output without a statement: it may be the one name that nothing else reads."""
    listed, read = {str(o.name) for o in outputs}, {n for s in forward for n in statement_names(s)}
    last = dict.fromkeys(s.target.name for s in forward if s.target.name not in (*read, *listed))
    meant = tuple(f"`{n}` is assigned and not read: write `{n}` here, if it is meant" for n in last if len(last) == 1)
    return (*meant, f"assign it, `{name} = …`, or leave it out of `outputs`")


def check_outputs(d: Declarations, bag: Bag) -> None:
    """An operator has an output; looked at last, because a circle of statements has its own message."""
    if d.outputs or bag.has_errors or isinstance(d.spec.forward, Callee):
        return
    last = d.forward[-1].target.name
    bag.error(
        "OPG235", "this operator has no outputs", d.spec.forward.whole,
        notes=("without `outputs`, these are the tensors that are assigned and never read",),
        hints=(f"list them: `outputs: [{last}]`",),
    )  # fmt: skip


def indices(d: Declarations) -> tuple[str, ...]:
    """The names of the indices of all statements."""
    return tuple(i.name for s in d.forward for i in s.target.items or () if isinstance(i, Binder))


def every(checks: Iterable[bool]) -> bool:
    """Whether all hold, after every one of them has been made (and has reported what it found)."""
    return all(list(checks))


def check_lower(name: str, span: Span, what: str, bag: Bag, taken: tuple[str, ...] = ()) -> bool:
    """Whether a name that formulas introduce is spelt as one; reports it where not, with one that is not `taken`."""
    a_what = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
    if name[:1].isupper():
        small = next(n for n in (name.lower(), *(f"{name.lower()}{k}" for k in range(2, 99))) if n not in taken)
        hints = (f"the name of {a_what} starts with a lower-case letter: `{small}`",)
        bag.error("OPG241", f"`{name}` is spelt like a dim", span, hints=hints)
        return False
    if not _NAME.fullmatch(name):
        bag.error("OPG241", f"`{name}` cannot be the name of {a_what}", span, hints=("names start with a letter",))
        return False
    if keyword.iskeyword(name):
        bag.error("OPG241", f"`{name}` is a keyword of Python", span, hints=(f"write `{name}_`, say",))
        return False
    return True


def _check_saved(d: Declarations, bag: Bag) -> None:
    if d.spec.save == "auto":
        return
    known = (*d.inputs, *d.targets(), *d.lost)
    for name in d.spec.save:
        if name not in known:
            bag.error(
                "OPG205", f"`{name}` cannot be saved: there is no such tensor", getattr(name, "span", None),
                label="unknown tensor", hints=did_you_mean(name, known) or (f"those here are {listed(known, 'and')}",),
            )  # fmt: skip
