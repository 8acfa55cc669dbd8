"""Private names of torch stand in one module of the runtime, and this is the list of them.

What is private may go with any release of torch: a name that comes to the list needs a fallback, or a place in what
`AVAILABLE` says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

OPERATOR = """
op: doubled
inputs: {x: {shape: [...]}}
forward: y = 2 * x
"""

NAMES = """
_add_batch_dim _after_ADInplaceOrView_keyset _any_requires_grad _are_functorch_transforms_active _assert_async
_AutoDispatchBelowADInplaceOrView _autograd_function_id _C _compiled_autograd_key _current_level
_data_address _dispatch_tls_local_exclude_set _dispatch_tls_local_include_set _dynamo_marked_constant
_ForceDispatchKeyGuard _functorch _get_obj_in_tls _is_any_autocast_enabled _is_key_in_tls _is_profiler_enabled
_is_tracing _len_torch_dispatch_stack _op _op_dispatcher _op_schema _remove_batch_dim _schema
_set_fwd_grad_enabled _SingleLevelFunction _stash_obj_in_tls _storage_address _unwrap_for_grad
_vmapmode_decrement_nesting _vmapmode_increment_nesting _will_engine_execute_node _wrap_for_grad
"""
# read at every call of the short way, where a function of `private` would cost more than the reading
ELSEWHERE = {"quick.py": {"_current_level", "_is_profiler_enabled"}}


def test_private_names_stand_in_one_module(build_operator: Callable[[str], ModuleType]) -> None:
    runtime = Path(str(build_operator(OPERATOR).__file__)).parents[1] / "_runtime"
    found = {path.name: set(private_names(path)) for path in sorted(runtime.glob("*.py"))}
    assert found.pop("private.py") == set(NAMES.split())
    assert {name: names for name, names in found.items() if names} == ELSEWHERE


def private_names(path: Path) -> Iterator[str]:
    """Private attributes of what is not `self`, private imports, and names in `getattr`, `hasattr` and dict keys."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name("self" | "cls")):
                continue
            case ast.Attribute(attr=name):
                names = [name]
            case ast.ImportFrom(module=str(module), level=0, names=aliases):
                names = [*module.split("."), *(a.name for a in aliases)]
            case ast.Import(names=aliases):
                names = [part for a in aliases for part in a.name.split(".")]
            case ast.Call(func=ast.Name("getattr" | "hasattr"), args=[_, ast.Constant(str(name)), *_]):
                names = [name]
            case ast.Dict(keys=keys):
                names = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
            case _:
                continue
        yield from (n for n in names if n.startswith("_") and not n.startswith("__"))
