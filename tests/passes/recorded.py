"""One call of a pass while a spec is turned into programs, plans and kernels: what it was given, and what it gave."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import permutations
from types import FunctionType
from typing import Any, get_type_hints

from opgen.diagnostics.model import Bag, Source
from opgen.ir import parse_program, text
from opgen.ir.program import Program
from opgen.ir.verify import verify
from opgen.kernel import parse as parse_kernel
from opgen.kernel import text as kernel_text
from opgen.kernel.formal import formal
from opgen.kernel.lanes import lanes, schedule_of
from opgen.kernel.lower import lower as lower_step
from opgen.kernel.model import Kernel
from opgen.kernel.teams import teams
from opgen.kernel.verify import verify as verify_kernel
from opgen.lower.operator import lower
from opgen.opt.autocast import autocast
from opgen.opt.derive import derive
from opgen.opt.flops import work
from opgen.opt.sharding import shardings
from opgen.plan.build import build
from opgen.plan.divided import alike
from opgen.plan.kernels import kernels_of
from opgen.plan.model import KernelPlan
from opgen.plan.speed import choice
from opgen.schema.load import load
from tests.passes.shown import shown


@dataclass(frozen=True, slots=True)
class Asked:
    """A pass by its module and name; which of its parameters are shown, and the program that it is run on, if named."""

    module: str
    function: str
    parameters: tuple[str, ...]
    program: str | None


class _Seen(Exception):  # noqa: N818 - no mistake, but the way out
    """What was waited for has come; the rest of the way need not be gone."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after


def recorded(asked: Asked, spec: str) -> tuple[str, str]:
    """Before and after of the first call, on the way of a spec, in which the pass changes something."""
    function = getattr(import_module(asked.module), asked.function)
    signature = inspect.signature(function)

    def watched(*args: Any, **kwargs: Any) -> object:
        given = signature.bind(*(tuple(a) if isinstance(a, Iterator) else a for a in args), **kwargs)
        before = [shown(given.arguments[name]) for name in asked.parameters]
        result = function(*given.args, **given.kwargs)
        first = given.args[0]
        on = first.name if isinstance(first, Program) else None
        after = shown(result)
        if asked.program in (None, on) and result and after != before[0]:
            raise _Seen(_titled(asked.parameters, before), after)
        return result

    try:
        with _replaced(function, watched):
            _whole_way(spec)
    except _Seen as seen:
        return seen.before, seen.after
    raise AssertionError(f"{asked.function} changes nothing in {asked.program or 'any program'}:\n{spec}")


def called(module: str, name: str, written: str, stated: Mapping[str, str]) -> str:
    """What a pass makes of a program or kernel that is written down; `stated` are further arguments, by name."""
    function = getattr(import_module(module), name)
    hints = get_type_hints(function)
    kernel = written.startswith(("kernel", "#"))
    given = parse_kernel.kernel(written) if kernel else parse_program.program(written)
    assert _exact(given) == written, "the text is as it would be printed"
    assert not verify_kernel(given) if isinstance(given, Kernel) else verify(given)
    made = function(given, **{n: hints[n](value) for n, value in stated.items()})
    assert made != given, f"{name} changes nothing"
    return _exact(made).rstrip("\n")


def _exact(x: Program | Kernel) -> str:
    return kernel_text.kernel(x) if isinstance(x, Kernel) else text.program(x, exact=True)


def _titled(names: tuple[str, ...], texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"# {name}\n{own}" for name, own in zip(names, texts, strict=True))


@contextmanager
def _replaced(function: FunctionType, other: Callable[..., object]) -> Iterator[None]:
    """Another function stands where other modules call this one."""
    users = [
        (module, name)
        for place, module in [*sys.modules.items()]
        if place.startswith("opgen.") or place == __name__
        if place != function.__module__
        for name, value in vars(module).items()
        if value is function
    ]
    assert users, f"nobody calls {function.__name__}"
    for module, name in users:
        setattr(module, name, other)
    try:
        yield
    finally:
        for module, name in users:
            setattr(module, name, function)


def _whole_way(written: str) -> None:
    """From a spec to all that is decided about it."""
    bag = Bag()
    spec = load(Source("spec.yaml", written), bag)
    operator = None if spec is None else lower(spec, bag)
    assert spec is not None, bag.items
    assert operator is not None, bag.items
    found: dict[str, list[KernelPlan]] = {}
    for derived in derive(operator):
        plans = {}
        for which, program in (("forward", derived.forward), ("backward", derived.backward)):
            if program is not None:
                plans[which] = build(program, operator.outputs)
        for which, plan in plans.items():
            found.setdefault(which, []).append(plan)
            for planned in kernels_of(plan):
                formal(plan, planned.kernel)
            for step in plan.steps:
                lanes(lower_step(plan, step), schedule_of(step))
                teams(lower_step(plan, step), schedule_of(step))
        autocast((derived.forward,))
        work(derived.forward, apart=False)
        shardings(derived.forward)
        choice({which: (plan,) for which, plan in plans.items()})
    for plans_of_variants in found.values():
        for divided, plain in permutations(plans_of_variants, 2):
            alike(divided, plain)
