"""The cases of `benchmarks/gpu.py`: operators at the sizes of models, what torch has for them, and the least bytes.

A case is a call. `forward` and `backward` are passes over the largest operand that a call needs at least: two for a map
of one operand, which reads one tensor and writes one. Cases with None there are bound by arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32
VOCABULARY = 128_256

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Make:
    """Makes operands on a device, of a dtype where a case states none; small ones, of the same rank, where `tiny`."""

    device: str
    tiny: bool = False
    dtype: torch.dtype = BF16

    def size(self, n: int) -> int:
        return max(1, n // 64) if self.tiny and n > 64 else n

    def normal(self, *shape: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        return torch.randn([self.size(n) for n in shape], device=self.device).to(dtype or self.dtype)

    def ids(self, *shape: int, below: int) -> torch.Tensor:
        return torch.randint(0, self.size(below), [self.size(n) for n in shape], device=self.device)


@dataclass(frozen=True, slots=True)
class Case:
    """One row: what is called with which operands, the same in torch, and the passes of each direction."""

    name: str
    op: str
    operands: Callable[[Make], tuple[torch.Tensor, ...]]
    theirs: Call
    forward: float | None = 2
    backward: float | None = 3
    ours: Callable[[Call], Call] = lambda op: op
    liger: str = ""  # the autograd function of liger-kernel, where it has one
    extra: tuple[Any, ...] = ()  # its arguments behind the operands
    most: float = 0.8  # times the fastest peer's time that is asked for on a CPU


def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, (x.shape[-1],), w, 1e-6)


def with_residual(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    h = x + r
    return rms(h, w), h


def segment_softmax(x: torch.Tensor, at: torch.Tensor, count: int) -> torch.Tensor:
    index = at[:, None].expand_as(x)
    top = x.new_full((count, x.shape[1]), float("-inf")).scatter_reduce(0, index, x.detach(), "amax")
    weight = torch.exp(x - top[at])
    return weight / torch.zeros_like(top).index_add(0, at, weight)[at]


def _kernel_sum(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.exp(-torch.cdist(x, y).square() / 2) @ b


def _pool(op: Call) -> Call:
    return lambda x: op(x, 3, 2, 1)


CASES = (
    Case("swiglu", "swiglu", lambda m: (m.normal(8192, 14336), m.normal(8192, 14336)),
         lambda a, b: functional.silu(a) * b, 3, 5, liger="LigerSiLUMulFunction"),
    Case("geglu tanh float16", "geglu", lambda m: (m.normal(8192, 14336, dtype=F16), m.normal(8192, 14336, dtype=F16)),
         lambda a, b: functional.gelu(a, approximate="tanh") * b, 3, 5, lambda op: lambda a, b: op(a, b, "tanh")),
    Case("gelu", "gelu", lambda m: (m.normal(8192, 16384),), functional.gelu),
    Case("squared relu", "squared_relu", lambda m: (m.normal(4096, 16384),), lambda x: functional.relu(x).square()),
    Case("bias gelu", "bias_gelu", lambda m: (m.normal(8192, 16384), m.normal(16384)),
         lambda x, c: functional.gelu(x + c, approximate="tanh")),
    Case("mish float32", "mish", lambda m: (m.normal(8192, 8192, dtype=F32),), functional.mish),
    Case("adaln", "adaln", lambda m: (m.normal(16, 4096, 1152), m.normal(16, 1152), m.normal(16, 1152)),
         lambda x, s, t: x * (1 + s[:, None]) + t[:, None]),
    Case("swiglu, one transposed", "swiglu",
         lambda m: (m.normal(8, 2048, 32, 128).transpose(1, 2), m.normal(8, 32, 2048, 128)),
         lambda a, b: functional.silu(a) * b, 3, 5),
    Case("softmax 4096", "softmax", lambda m: (m.normal(32768, 4096),), lambda x: x.softmax(-1),
         liger="LigerSoftmaxFunction"),
    Case("softmax 65536", "softmax", lambda m: (m.normal(16384, 65536),), lambda x: x.softmax(-1),
         liger="LigerSoftmaxFunction"),
    Case("softmax 64 float32", "softmax", lambda m: (m.normal(1048576, 64, dtype=F32),), lambda x: x.softmax(-1),
         liger="LigerSoftmaxFunction"),
    Case("rms_norm 4096", "rms_norm", lambda m: (m.normal(32768, 4096), m.normal(4096)), rms,
         liger="LigerRMSNormFunction", extra=(1e-6,)),
    Case("rms_norm 16384", "rms_norm", lambda m: (m.normal(32768, 16384), m.normal(16384)), rms,
         liger="LigerRMSNormFunction", extra=(1e-6,)),
    Case("layer_norm 1024", "layer_norm", lambda m: (m.normal(131072, 1024), m.normal(1024), m.normal(1024)),
         lambda x, w, c: functional.layer_norm(x, w.shape, w, c), liger="LigerLayerNormFunction", extra=(1e-5,)),
    Case("layer_norm 8192 float32", "layer_norm",
         lambda m: (m.normal(16384, 8192, dtype=F32), m.normal(8192, dtype=F32), m.normal(8192, dtype=F32)),
         lambda x, w, c: functional.layer_norm(x, w.shape, w, c), liger="LigerLayerNormFunction", extra=(1e-5,)),
    Case("rms_norm of a residual", "rms_norm_residual",
         lambda m: (m.normal(32768, 4096), m.normal(32768, 4096), m.normal(4096)), with_residual, 4, 4),
    Case("cross entropy", "cross_entropy", lambda m: (m.normal(8192, VOCABULARY), m.ids(8192, below=VOCABULARY)),
         functional.cross_entropy, 1, 2),
    Case("kl_div float32", "kl_div",
         lambda m: (m.normal(4096, 32000, dtype=F32).log_softmax(-1), m.normal(4096, 32000, dtype=F32).softmax(-1)),
         lambda x, t: functional.kl_div(x, t.detach(), reduction="batchmean"), 2, 2,
         lambda op: lambda x, t: op(x, t.detach(), "batchmean")),
    Case("column sum", "column_sum", lambda m: (m.normal(65536, 4096),), lambda x: x.sum(0), 1, None),
    Case("embedding", "embedding", lambda m: (m.ids(16384, below=VOCABULARY), m.normal(VOCABULARY, 4096)),
         functional.embedding, None, None),
    Case("attention, causal", "attention", lambda m: tuple(m.normal(4, 32, 4096, 128) for _ in range(3)),
         lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True), None, None,
         lambda op: lambda q, k, v: op(q, k, v, True)),
    Case("embedding_bag", "embedding_bag",
         lambda m: (m.ids(65536, 32, below=1_000_000), m.normal(1_000_000, 128, dtype=F32)),
         lambda i, w: functional.embedding_bag(i, w, mode="sum"), None, None),
    Case("segment_softmax float32", "segment_softmax",
         lambda m: (m.normal(4_000_000, 8, dtype=F32), m.ids(4_000_000, below=250_000)),
         lambda x, at: segment_softmax(x, at, 250_000), None, None, lambda op: lambda x, at: op(x, at, 250_000)),
    Case("max_pool2d float32", "max_pool2d", lambda m: (m.normal(64, 64, 224, 224, dtype=F32),),
         _pool(functional.max_pool2d), None, None, _pool),
    Case("kernel sum float32", "gaussian_kernel_sum",
         lambda m: (m.normal(16384, 3, dtype=F32), m.normal(16384, 3, dtype=F32), m.normal(16384, 1, dtype=F32)),
         _kernel_sum, None, None),
)  # fmt: skip
