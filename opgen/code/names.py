"""Names that generated code uses itself, by language, and what a spec's own are called where they would hide one.

In goes an operator as its spec names things; out comes the same operator with the names that are used inside: a tensor
or param whose name is taken gets another one. `Operator.shown` leads back, for signatures, messages and documentation.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from opgen.ir.names import Names
from opgen.ir.operator import Operator
from opgen.ir.program import definitions
from opgen.ir.rename import renamed_operator

_CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast
else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed
sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
# Macros of the headers that are not written in capitals, of any compiler, and names that all functions use.
_MACROS = """
assert errno stdin stdout stderr linux unix i386 offsetof setjmp signbit fpclassify isfinite isinf isnan isnormal
isgreater isgreaterequal isless islessequal islessgreater isunordered va_arg va_copy va_end va_start alloca
math_errhandling minor major makedev sigmask sa_handler sa_sigaction stat64 putc getc htons htonl ntohs ntohl
htobe16 htobe32 htobe64 htole16 htole32 htole64 be16toh be32toh be64toh le16toh le32toh le64toh strdupa strndupa
assert_perror issubnormal sched_priority pthread_cleanup_push pthread_cleanup_pop pthread_cleanup_push_defer_np
pthread_cleanup_pop_restore_np
"""
_SHARED = """
std rt opgen OpgenCall half_t bfloat16_t scalar_t opmath_t int64_t uint64_t int32_t uint32_t size_t call
convolution main printf
"""
_KERNELS = """
batch batch_size place rank at near across Across rest inner_rest point inner first folds other index V Team Folds Part
launch step args fields points length width row map flat fold settle finish compute merge idle status i
threadIdx blockIdx blockDim gridDim warpSize
"""
_CPU_KERNELS = """
run ran row rows columns outer begin start end size value call host lane numbers chunk part total memory in_place
"""
CPP = frozenset(f"{_CPP} {_MACROS} {_SHARED}".split())
KERNELS = CPP | frozenset(_KERNELS.split())
CPU_KERNELS = KERNELS | frozenset(_CPU_KERNELS.split())

# What lines of Python call to draw random numbers: functions of a module of the runtime.
DRAWS = ("batch_places", "normal_of", "philox", "uniform_of")
# What lines of Python call: functions of the runtime that stand beside formulas.
RUNTIME = (
    "add_along",
    "add_at",
    "add_one_along",
    "amax",
    "amin",
    "as_rows",
    "batch_places",
    "broadcast_shape",
    "columns",
    "combine_along",
    "combine_at",
    "combine_one_along",
    "convolution",
    "convolution_data",
    "convolution_weight",
    "flat_index",
    "in_compute_dtype",
    "joint_log_softmax",
    "joint_softmax",
    "logsumexp",
    "normal_of",
    "numbers",
    "philox",
    "pick",
    "polygamma",
    "prod",
    "rounded_to",
    "take",
    "uniform_of",
    "upcast",
    "upcast_all",
    "variance",
    "wide_fmod",
    "wide_remainder",
    "window",
)
_INSIDE = """
torch math Tensor Any ctx dtype check needs_input_grad given_grads or_zero filled like_input second_order batch_shape
check_params check_range checks_values choice_error compute_dtype divisor_error domain_error extent_error length_error
multiple_error rank_error size_error
OP FORWARD BACKWARD l O I
"""
# What the modules of an operator define, import or are called beside its function.
_BESIDE = """
function register check_values fake backward_fake flops backward_flops Sharding add_function has_torch_function
handle_torch_function joined write_out once_differentiable complex_dtype real_dtype parts annotations bools complexes
floats ints inf nan keyword_error misplaced unknown Never takes_missing
"""
PYTHON = frozenset((*keyword.kwlist, *dir(builtins), *RUNTIME, *_INSIDE.split()))
_WORDS_OF_SCHEMAS = frozenset(["inf", "nan"])
_DERIVED = ("grad_", "tangent_")
_PROGRAMS = ("forward", "backward", "tangent", "second", "backward_tangent")
_CAPITALS = re.compile(r"[A-Z](?:[A-Z_]\w*|[A-Z0-9_]+)")


def member(dim: str) -> str:
    """A dim in C++, where names in capitals, as `NAN`, `M_PI` and `E2BIG`, are macros."""
    return f"{dim}_" if _CAPITALS.fullmatch(dim) else dim


def function_name(operator: Operator) -> str:
    """What modules call the function of an operator, where its own name means something else to them."""
    arguments = (*(t.name for t in operator.operands), *(a.name for a in operator.params))
    hidden = (
        operator.name in PYTHON or operator.name in _BESIDE.split() or operator.name in map(operator.shown, arguments)
    )
    return f"_{operator.name}_operator" if hidden else operator.name


def named_inside(operator: Operator) -> Operator:
    """The operator with the names that are used inside: none that generated code uses itself, or derives from them."""
    found = tuple(dict.fromkeys(_names(operator)))
    own = frozenset((operator.name, "output", *(f"{operator.name}_{p}" for p in _PROGRAMS)))
    results = frozenset(o.name for v in operator.variants for o in v.program.outputs)
    sizes = frozenset(f"size_{d.name.lower()}" for v in operator.variants for d in v.program.dims if d.name in PYTHON)
    hiding = sizes | CPP | (PYTHON - {"input"}) | _WORDS_OF_SCHEMAS
    names = Names(found)
    inside = {
        n: names.fresh(f"{_turned(n)}_")
        for n in found
        if n in hiding or (n in own and n not in results) or _derived(n, found)
    }
    return renamed_operator(operator, inside) if inside else operator


def _names(operator: Operator) -> Iterable[str]:
    yield from (t.name for t in operator.operands)
    yield from (t.name for t in operator.inputs)
    yield from (a.name for a in operator.params)
    for v in operator.variants:
        yield from (o.name for o in v.program.outputs)
        yield from (s.target for s in definitions(v.program))


def _turned(name: str) -> str:
    """A name with what makes it look like a gradient behind: otherwise the gradient of another one may be called so."""
    behind = ""
    while name.startswith(_DERIVED):
        word, name = name.split("_", 1)
        behind += f"_{word}"
    return name + behind


def _derived(name: str, found: tuple[str, ...]) -> bool:
    """Is this what the gradient or tangent of another tensor is called?"""
    while name.startswith(_DERIVED):
        name = name.split("_", 1)[1]
        if name in found:
            return True
    return False
