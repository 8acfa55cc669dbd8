"""A gradient that nobody asks for has no memory on a device, and what it alone is made of is not read there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.harness import needs_compiler
from tests.cuda.test_binding import bound_in, output

pytestmark = [pytest.mark.thorough, needs_compiler]

CALLED = """
import ctypes, mmap, torch
from torch.profiler import profile
from generated.{op} import {op}

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
backward = torch.ops.generated_native.{op}_backward

def only(k, given):
    with profile(profile_memory=True) as seen:
        found = backward(*given, [k == 0, k == 1])
    assert found[1 - k] is None
    return found[k], sum(max(e.self_cpu_memory_usage, 0) for e in seen.events())

for apart, count in ((0, 1024), (0, 4099), (1, 4099)):  # whole vectors, what is left of them, no vectors
    # whoever reads these pages once they are fenced is stopped by the system
    pages = mmap.mmap(-1, -(-4 * (apart + count) // mmap.PAGESIZE) * mmap.PAGESIZE)
    held = torch.frombuffer(pages, dtype=torch.float32)[apart : apart + count].copy_(torch.rand(count))
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    g, other = torch.rand(count), torch.rand(count)
    given = ({given})
    whole = backward(*given, [True, True])
    for k in range(2):
        assert libc.mprotect(start, len(pages), 0 if k == {wanted} else 3) == 0
        found, made = only(k, given)
        assert torch.equal(found, whole[k])
        assert 4 * count <= made < 6 * count, made
        print(k, apart, count)
    libc.mprotect(start, len(pages), 3)
"""
# the operand in `held` is for one gradient alone: not for that of `wanted`
CASES = {"kl_div": ("g.sum(), held, other, 'sum', True", 0), "swiglu": ("g, other, held", 1)}


@pytest.mark.parametrize("op", ["swiglu", pytest.param("kl_div", marks=pytest.mark.slow)])
def test_what_nobody_wants_is_neither_stored_nor_read(op: str, tmp_path: Path) -> None:
    bound_in(tmp_path, op)
    given, wanted = CASES[op]
    assert len(output(CALLED.format(op=op, given=given, wanted=wanted), tmp_path).splitlines()) == 6
