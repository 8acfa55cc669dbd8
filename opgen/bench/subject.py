"""An operator as it is measured: its function, what computes the same, and its calls.

In goes a spec, and the folder where its operator was generated; out come contenders for `opgen.bench.timing`. Inputs
that may be left out are left out, but for those that the module of the operator brings, such as weights.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from opgen.bench.sizes import Growth
from opgen.bench.timing import Contender
from opgen.diagnostics.model import Bag, Diagnostic, UserError
from opgen.ir.operator import Operator
from opgen.ir.program import Chosen, Condition, Given, Kind
from opgen.opt.derive import Derived
from opgen.package.sample_arrays import InputSample
from opgen.package.sample_numbers import default_value
from opgen.package.samples import Chooser, SampleCase
from opgen.pipeline import Stage, read, run
from opgen.toolchain.load import imported, load

KERNEL, PLAIN, REFERENCE, COMPILE = "kernel", "plain", "reference", "compile"
DIRECTIONS = ("forward", "backward", "both")
Operands = list[torch.Tensor | None]


@dataclass(frozen=True, slots=True)
class Subject:
    """One operator: its function, what operators of its package share, and what was derived of one variant."""

    function: Callable[..., Any]
    runtime: ModuleType
    operator: Operator
    derived: Derived

    @property
    def name(self) -> str:
        return self.operator.name

    @property
    def compiled(self) -> bool:
        return self.runtime.kernel(self.name, "forward") is not None

    def growth(self) -> Growth | None:
        """How calls grow; None where no sample of the operator is found."""
        chooser = Chooser(self.operator, self.derived, stated=False)
        case = chooser.case()
        if case is None:
            return None
        kept = {t.name for t in self.operator.operands} - {*self.operator.maybe_none}
        kept |= _brought(self.operator) | {n for n, s in case.inputs if n in self.operator.seeds}
        inputs = tuple((n, s if n in kept else None) for n, s in case.inputs)
        return Growth(chooser, replace(case, inputs=inputs), self.elements)

    def elements(self, case: SampleCase) -> int | None:
        """The elements of the largest tensor of a call; None where the call is refused."""
        given = [None if s is None else torch.empty(_shape(s), dtype=_dtype(s), device="meta") for _, s in case.inputs]
        try:
            with torch.no_grad(), self.runtime.use_backend("torch"):
                results = _tuple(self.function(*given, **dict(case.params)))
        except (RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError):
            return None
        return max((a.numel() for a in (*given, *results) if a is not None), default=0)

    def work(self, case: SampleCase) -> int:
        """The floating-point operations of a call; 0 where they are not known."""
        count = self.runtime.entry(self.name).definition.flops
        given: dict[str, object] = {a.name: default_value(a) for a in self.operator.stated} | dict(case.params)
        parts = {p.name: (p.real, p.imag) for p in self.operator.pairs}
        for name, s in case.inputs:
            one = None if s is None else torch.empty(_shape(s), device="meta")
            given |= dict.fromkeys(parts.get(name, (name,)), one)
        return 0 if count is None else int(count(**{n: given[n] for n in inspect.signature(count).parameters}))


def subject(spec: Path, out: Path | None) -> Subject:
    """The operator of a spec as it lies in a folder; without a folder, it is generated and compiled for itself."""
    bag = Bag()
    file = read(spec, bag)
    made = None if file is None else run(file, Stage.DERIVED)
    found: tuple[Diagnostic, ...] = (*bag.items, *(made.diagnostics if made is not None else ()))
    if made is None or made.operator is None or not made.derived:
        raise UserError(found)
    name = made.operator.name
    if out is None:
        loaded = load(spec)
        function, package = loaded.function, loaded.package
    else:
        sys.path.insert(0, str(out.absolute().parent))
        package, _ = imported(out.absolute(), name)
        function = getattr(package, name)
    runtime = import_module(f"{package.__name__.rpartition('.')[0]}._runtime")
    runtime.native.be_quiet()
    return Subject(function, runtime, made.operator, _usual(made.operator, made.derived))


def _usual(operator: Operator, derived: Sequence[Derived]) -> Derived:
    """The variant of a call that leaves out what may be left out and its module does not bring."""
    brought, params = _brought(operator), {a.name: a for a in operator.params}
    whole = {p.real: p.name for p in operator.pairs}

    def holds(c: Condition) -> bool:
        match c:
            case Given(name, present):
                return present == (whole.get(name, name) in brought)
            case Chosen(name, value):
                return params[name].required or default_value(params[name]) == value

    return next((d for d in derived if all(map(holds, d.variant.conditions))), derived[0])


def _brought(operator: Operator) -> set[str]:
    return {s.input for s in operator.module.states}


# --- operands --------------------------------------------------------------------------------------------------------


def operands(case: SampleCase, dtype: torch.dtype, device: str, differentiable: Sequence[str]) -> Operands:
    """Random tensors for a call, in the ranges of the sample; those that have gradients ask for them."""
    made: Operands = []
    for name, s in case.inputs:
        if s is None:
            made.append(None)
            continue
        tensor = _tensor(s, dtype).to(device)
        smooth = (tensor.is_floating_point() and tensor.dtype.itemsize > 1) or tensor.is_complex()
        made.append(tensor.requires_grad_(smooth and name in differentiable))
    return made


def _tensor(s: InputSample, dtype: torch.dtype) -> torch.Tensor:
    shape = _shape(s)
    match s.kind:
        case Kind.INT:
            return torch.randint(int(s.low), max(int(s.high), int(s.low) + 1), shape, dtype=_dtype(s))
        case Kind.BOOL:
            return torch.rand(shape) < 0.5
        case Kind.COMPLEX:
            return torch.randn(shape, dtype=torch.complex64)
        case Kind.FLOAT:
            made = (s.low + (s.high - s.low) * torch.rand(shape)).to(dtype)
            return made.to(getattr(torch, s.dtype)) if s.dtype else made


def _dtype(s: InputSample) -> torch.dtype:
    own = {Kind.INT: torch.int64, Kind.BOOL: torch.bool, Kind.COMPLEX: torch.complex64, Kind.FLOAT: torch.float32}
    stored: torch.dtype = getattr(torch, s.dtype) if s.dtype else own[s.kind]
    return stored


def _shape(s: InputSample) -> tuple[int, ...]:
    return tuple(n for item in s.shape for n in (item if isinstance(item, tuple) else (item,)))


def _tuple(results: Any) -> tuple[torch.Tensor, ...]:
    return results if isinstance(results, tuple) else (results,)


# --- contenders ------------------------------------------------------------------------------------------------------

Function = Callable[[Operands], Any]


def functions(s: Subject, case: SampleCase, peers: Sequence[str]) -> Iterator[tuple[str, Function, str]]:
    """What computes the operator: its name, a function of operands, and the back end that it asks for."""
    stated = dict(case.params)
    if s.compiled:
        yield KERNEL, lambda given: s.function(*given, **stated), "native"
    yield PLAIN, lambda given: s.function(*given, **stated), "torch"
    path = s.operator.docs.reference
    if path and REFERENCE in peers:
        module, _, name = path.rpartition(".")
        yield (
            REFERENCE,
            _referred(s.function, getattr(import_module(module), name), [n for n, _ in case.inputs], stated),
            "",
        )
    if COMPILE in peers:
        seen_through = s.runtime.inline(s.function)
        compiled = torch.compile(lambda *given: seen_through(*given, **stated), dynamic=False)
        yield COMPILE, lambda given: compiled(*given), "torch"


def _referred(
    ours: Callable[..., Any], reference: Callable[..., Any], inputs: Sequence[str], stated: Mapping[str, object]
) -> Function:
    """A call by the names that both know: a reference may order its arguments or choose defaults in another way."""
    try:
        names = {*inspect.signature(reference).parameters}
    except ValueError:  # of a builtin
        names = set()
    defaults = {n: p.default for n, p in inspect.signature(ours).parameters.items() if n in names and n not in inputs}
    keywords = {n: v for n, v in defaults.items() if v is not None and v is not inspect.Parameter.empty} | dict(stated)

    def call(given: Operands) -> Any:
        own = {n: g for n, g in zip(inputs, given, strict=True) if n in names and g is not None}
        positional = [g for n, g in zip(inputs, given, strict=True) if n not in names]
        while positional and positional[-1] is None:
            positional.pop()
        return reference(*positional, **own, **keywords)

    return call


def contender(s: Subject, direction: str, named: tuple[str, Function, str], given: Operands) -> Contender | None:
    """A call in one direction, after it ran once; None where it has no gradient."""
    name, function, backend = named
    around: Callable[[], AbstractContextManager[Any]] = (
        partial(s.runtime.use_backend, backend) if backend else nullcontext
    )
    with around(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about a reference's own use
        call = _call(direction, function, given)
        if call is not None:
            call()
    return None if call is None else Contender(name, call, around)


def _call(direction: str, function: Function, given: Operands) -> Callable[[], Any] | None:
    if direction == "forward":
        plain = [None if g is None else g.detach() for g in given]
        return lambda: function(plain)
    leaves = [g for g in given if g is not None and g.requires_grad]
    outputs = [y for y in _tuple(function(given)) if y.requires_grad] if leaves else []
    if not outputs:
        return None
    grads = [torch.randn_like(y) for y in outputs]

    def gradients(results: Sequence[torch.Tensor], *, keep: bool) -> Any:
        return torch.autograd.grad(results, leaves, grads, retain_graph=keep, allow_unused=True)

    if direction == "backward":
        return lambda: gradients(outputs, keep=True)
    return lambda: gradients([y for y in _tuple(function(given)) if y.requires_grad], keep=False)
