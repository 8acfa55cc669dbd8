"""What calls of a module do: its own tensors go in beside the inputs, and buffers are overwritten in training.

In goes a `Surface` with the tensors that the module owns; out come the lines of `forward`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opgen.code.layout import bracketed
from opgen.ir.declared import Initialiser
from opgen.ir.names import Names
from opgen.ir.program import Chosen, Tensor, definitions, statement_reads
from opgen.opt.derive import Derived
from opgen.package.view import Surface
from opgen.package.view_saved import held

# What a module has already: an attribute of the operator's own gets an underscore.
_TAKEN = """
T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval
extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules
mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook register_buffer
register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory
state_dict to to_empty train training type xpu zero_grad reset_parameters
"""
_ATTRIBUTES = frozenset(_TAKEN.split())


def me_of(names: Iterable[str]) -> str:
    """The first parameter of a method that has these ones too."""
    return "_self" if "self" in names else "self"


def attribute(name: str) -> str:
    return f"{name}_" if name in _ATTRIBUTES else name


def own_name(name: str, arguments: Iterable[str]) -> str:
    """What the constructor has beside the arguments of the spec, out of the way of one that is called the same."""
    return f"_{name}" if name in arguments else name


@dataclass(frozen=True, slots=True)
class State:
    """A parameter or buffer."""

    tensor: Tensor
    initialiser: Initialiser
    optional: bool
    buffer: bool
    flag: str  # what the spec calls it
    stored: str = ""  # the dtype that the spec names


def returned(s: Surface) -> list[str]:
    """The outputs that a module returns: those that no buffer is overwritten with."""
    kept = {output for _, output in s.operator.module.updates}
    return [o.name for o in s.results if o.name not in kept]


def call_lines(s: Surface, states: Sequence[State], me: str) -> list[str]:
    """The call; what buffers become is taken out of its results, and written into them in training."""
    operator, module = s.operator, s.operator.module
    operands = [operator.shown(t.name) for t in operator.operands]
    values = {st.flag: f"{me}.{attribute(st.flag)}" for st in states}
    values |= {
        st.flag: f"{helper_name('snapshot', s)}({values[st.flag]}, {me}.training)"
        for st in states
        if _read_later(s, st)
    }
    names = Names((me, s.function, *operands))
    arguments = [values.get(n, n) for n in operands]
    for n in map(operator.shown, s.stated):
        follows = n == operator.shown(module.training)
        arguments.append(f"{n}={me}.{'training' if follows else attribute(n)}")
    if not module.updates:
        return unindented(bracketed(f"return {s.function}(", arguments, ")", 8), 8)
    results = {o.name: names.fresh(operator.shown(o.name)) for o in s.results}
    call = unindented(bracketed(f"{', '.join(results.values())} = {s.function}(", arguments, ")", 8), 8)
    found = {st.tensor.name: st for st in states}
    after: list[str] = []
    for optional in (False, True):
        writes = [(found[b], results[o]) for b, o in module.updates if found[b].optional is optional]
        if writes and not (optional and after):
            after.append(f"if {me}.training:")
        for st, value in writes:
            own = f"{me}.{attribute(st.flag)}"
            write = f'{helper_name("overwrite", s)}({me}, "{attribute(st.flag)}", {value})'
            after += [f"    if {own} is not None:", f"        {write}"] if optional else [f"    {write}"]
    return [*call, *after, f"return {', '.join(results[n] for n in returned(s))}"]


def helper_name(helper: str, s: Surface) -> str:
    """What a function of the runtime for buffers is called beside the names of the operator."""
    results = [s.operator.shown(o.name) for o in s.results]
    return own_name(helper, (s.function, *s.arguments, *results))


def _read_later(s: Surface, st: State) -> bool:
    """Does a gradient need what a buffer was, which is overwritten before?"""
    name, module = st.tensor.name, s.operator.module
    if name not in (b for b, _ in module.updates):
        return False
    parts = next(({p.real, p.imag} for p in s.operator.pairs if p.name == name), {name})
    training = [d for d in s.derived if Chosen(module.training, value=False) not in d.variant.conditions]
    return s.by_torch or any(parts & _origins(d) for d in training)


def _origins(d: Derived) -> set[str]:
    """What backward takes of the forward pass, and all that this was computed from: a compiler may do so again."""
    found = {t.name for t in held(d)[0]}
    for s in reversed(tuple(definitions(d.forward))):
        if s.target in found:
            found |= {r.tensor for r in statement_reads(s)}
    return found


def unindented(text: str, indent: int) -> list[str]:
    """The lines of a bracketed text without the indentation of its place."""
    first, *rest = text.split("\n")
    return [first, *(line[indent:] for line in rest)]
