"""The cases of `benchmarks/cpu_peers.py`: operators at sizes beyond the caches, and how people write them in torch.

Sizes are those of `Make` as they stand; where torch has no operator, the peer is the formula of its pages.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from benchmarks.gpu_cases import Call, Case, Make, rms, segment_softmax, with_residual

SEGMENTS = 20_000


def named(draws: int, rows: int) -> float:
    """The share of the rows of a table that so many draws name."""
    return 1 - (1 - 1 / rows) ** draws


def map_of(count: int) -> Any:
    """Operands of a map: so many tensors of four million elements."""
    return lambda m: tuple(m.normal(4096, 1024) for _ in range(count))


def rows(n: int, d: int, weights: int = 0) -> Any:
    return lambda m: (m.normal(n, d), *(m.normal(d) for _ in range(weights)))


def _ten(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    bent = torch.tanh(x * s) + 0.1 * x
    return bent * torch.sigmoid(x - 1) / (1 + bent.abs()) - 0.5


def _rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def _turned(m: Make) -> tuple[torch.Tensor, ...]:
    x = m.normal(32, 1024, 128)
    angle = torch.rand(x.shape[1], x.shape[2] // 2)
    return x, angle.cos().to(m.dtype), angle.sin().to(m.dtype)


def _kernel_sum(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    distance = x.square().sum(1)[:, None] + y.square().sum(1) - 2 * (x @ y.T)
    return torch.exp(-distance / 2) @ b


def _segments(width: int, *, ordered: bool) -> Any:
    def made(m: Make) -> tuple[torch.Tensor, ...]:
        at = m.ids(200_000, below=SEGMENTS)
        return m.normal(200_000, width), at.sort().values if ordered else at

    return made


def _in_torch(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    return segment_softmax(x, at, SEGMENTS)


def _in_segments(op: Call) -> Call:
    return lambda x, at: op(x, at, SEGMENTS)


def _spline(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    cells = w.shape[-1]
    r = ((x[..., None] + 1) * (cells - 3) / 2 + 1 - torch.arange(cells)).abs().to(x.dtype)
    near, far = 2 / 3 - r**2 + r**3 / 2, (2 - r).clamp_min(0) ** 3 / 6
    return torch.where(r < 1, near, far).flatten(-2) @ w.flatten(1).T


def _recurrence(gate: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    state, made = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = gate[:, t] * state + x[:, t]
        made.append(state)
    return torch.stack(made, 1)


def _sampled(image: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """In float32 at least: of bfloat16, the gradient of `grid_sample` ends the process (torch 2.13)."""
    wide = torch.promote_types(image.dtype, torch.float32)
    scale = 2 / torch.tensor([image.shape[1] - 1, image.shape[0] - 1], dtype=wide)
    grid = (points.to(wide).flip(-1) * scale - 1)[None, None]
    return functional.grid_sample(image.to(wide)[None, None], grid, align_corners=True)[0, 0, 0].to(image.dtype)


def _points(m: Make) -> tuple[torch.Tensor, ...]:
    side = m.size(1024)
    return m.normal(1024, 1024), (torch.rand(m.size(500_000), 2) * (side - 1)).to(m.dtype)


def _group_norm(x: torch.Tensor, w: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return functional.group_norm(x, max(1, w.shape[0] // 4), w, c)


def _in_groups(op: Call) -> Call:
    return lambda x, w, c: op(x, w, c, num_groups=max(1, w.shape[0] // 4))


def _heads(m: Make) -> tuple[torch.Tensor, ...]:
    return tuple(m.normal(2, 8, 512, 64) for _ in range(3))


def _edges(m: Make, nodes: int, edges: int) -> tuple[torch.Tensor, torch.Tensor]:
    return m.ids(edges, below=nodes), m.ids(edges, below=nodes)


def _messages(x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x).index_add(0, target, x[source])


def _graph_attention(
    x: torch.Tensor, source: torch.Tensor, target: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    scores = functional.leaky_relu((x * a).sum(-1)[source] + (x * b).sum(-1)[target], 0.2)
    weight = segment_softmax(scores, target, x.shape[0])
    return torch.zeros_like(x).index_add(0, target, weight[..., None] * x[source])


def _molecule(m: Make) -> tuple[torch.Tensor, ...]:
    """Positions of atoms that are apart, and what an edge block takes."""
    source = m.ids(2500, below=200)
    nodes = m.size(200)
    target = (source + 1 + m.ids(2500, below=199) % (nodes - 1)) % nodes
    features = m.normal(200, 64), source, target, torch.linspace(0, 5, m.size(20)).to(m.dtype)
    return m.normal(200, 3), *features, m.normal(20, 64), m.normal(64, 64)


def _edge_block(
    position: torch.Tensor, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor, centre: torch.Tensor,
    first: torch.Tensor, second: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    distance = (position[target] - position[source]).square().sum(-1).sqrt()
    basis = torch.exp(-10 * (distance[:, None] - centre).square())
    filters = (functional.softplus(basis @ first) - math.log(2)) @ second
    return torch.zeros_like(x).index_add(0, target, x[source] * filters)


def _crystal(m: Make) -> tuple[torch.Tensor, ...]:
    """343 particles near the points of a grid."""
    side = torch.arange(2.0 if m.tiny else 7.0)
    grid = torch.cartesian_prod(side, side, side)
    return (
        (1.2 * grid + 0.05 * torch.rand_like(grid)).to(m.dtype),
        torch.ones((), dtype=m.dtype),
        torch.ones((), dtype=m.dtype),
    )


def _pairs(x: torch.Tensor, sigma: torch.Tensor, epsilon: torch.Tensor) -> torch.Tensor:
    r2 = (x[:, None] - x).square().sum(-1)
    other = ~torch.eye(len(x), dtype=torch.bool)
    s = torch.where(other, sigma**2 / torch.where(other, r2, 1), 0)
    return (epsilon * 4 * (s**6 - s**3)).sum() / 2


def _forces(op: Call) -> Call:
    """What is trained on forces: the gradient of an energy with respect to its first operand, itself differentiated."""

    def made(position: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            energy = op(position, *others).sum()
            return torch.autograd.grad(energy, position, create_graph=again)[0]

    return made


def _causal(op: Call) -> Call:
    return lambda q, k, v: op(q, k, v, is_causal=True)


def _tanh(op: Call) -> Call:
    return lambda *given: op(*given, approximate="tanh")


CASES = (
    Case("silu", "silu", map_of(1), functional.silu),
    Case("gelu", "gelu", map_of(1), functional.gelu),
    Case("gelu tanh", "gelu", map_of(1), _tanh(functional.gelu), ours=_tanh),
    Case("mish", "mish", map_of(1), functional.mish),
    Case("swiglu", "swiglu", map_of(2), lambda a, b: functional.silu(a) * b, 3, 5),
    Case("geglu", "geglu", map_of(2), lambda a, b: functional.gelu(a) * b, 3, 5),
    Case("softplus", "softplus", map_of(1), functional.softplus),
    Case("ten operations", "ten_operations", map_of(2), _ten, 3, 5),
    Case("huber loss", "huber_loss", map_of(2), functional.huber_loss, 2, 4),
    Case("softmax 4096×1024", "softmax", rows(4096, 1024), lambda x: x.softmax(-1)),
    Case("softmax 128×32768", "softmax", rows(128, 32768), lambda x: x.softmax(-1)),
    Case("log_softmax", "log_softmax", rows(4096, 1024), lambda x: x.log_softmax(-1)),
    Case("layer_norm", "layer_norm", rows(4096, 1024, 2), lambda x, w, c: functional.layer_norm(x, w.shape, w, c)),
    Case("rms_norm", "rms_norm", rows(4096, 1024, 1), rms),
    Case("rms_norm of a residual", "rms_norm_residual",
         lambda m: (m.normal(4096, 1024), m.normal(4096, 1024), m.normal(1024)), with_residual, 4, 4),
    Case("cross entropy", "cross_entropy", lambda m: (m.normal(512, 32000), m.ids(512, below=32000)),
         functional.cross_entropy, 1, 2),
    Case("rope", "rope", _turned, _rope),
    Case("embedding", "embedding", lambda m: (m.ids(8192, below=32000), m.normal(32000, 512)),
         functional.embedding, named(8192, 32000) + 8192 / 32000, 8192 / 32000 + 1),
    Case("embedding_bag", "embedding_bag", lambda m: (m.ids(4096, 32, below=100_000), m.normal(100_000, 128)),
         lambda i, w: functional.embedding_bag(i, w, mode="sum"), named(4096 * 32, 100_000) + 0.041, 0.041 + 1),
    Case("kernel sum", "gaussian_kernel_sum", lambda m: (m.normal(4096, 3), m.normal(4096, 3), m.normal(4096, 1)),
         _kernel_sum, None, None),
    Case("depthwise conv1d", "conv1d", lambda m: (m.normal(8, 256, 2048), m.normal(256, 1, 4)),
         lambda x, w: functional.conv1d(x, w, padding=3, groups=w.shape[0]),
         ours=lambda op: lambda x, w: op(x, w, padding=3, groups=w.shape[0])),
    Case("max_pool2d", "max_pool2d", lambda m: (m.normal(8, 64, 112, 112),),
         lambda x: functional.max_pool2d(x, 3, 2, 1), 1.25, 1.25, lambda op: lambda x: op(x, 3, 2, 1)),
    Case("avg_pool2d", "avg_pool2d", lambda m: (m.normal(8, 64, 128, 128),),
         lambda x: functional.avg_pool2d(x, 2), 1.25, 1.25, lambda op: lambda x: op(x, 2)),
    Case("segment_softmax, sorted", "segment_softmax", _segments(8, ordered=True), _in_torch, ours=_in_segments),
    Case("segment_softmax", "segment_softmax", _segments(8, ordered=False), _in_torch, ours=_in_segments),
    Case("segment_sum", "segment_sum", _segments(64, ordered=False),
         lambda x, at: x.new_zeros(SEGMENTS, x.shape[1]).index_add(0, at, x), 1.1, 1.1, _in_segments),
    Case("bspline_kan", "bspline_kan", lambda m: (m.normal(4096, 64).clamp(-1, 1), m.normal(64, 64, 8)),
         _spline, None, None),
    Case("gated_recurrence", "gated_recurrence", lambda m: (m.normal(64, 128, 256).sigmoid(), m.normal(64, 128, 256)),
         _recurrence, 3, 5),
    Case("group_norm", "group_norm", lambda m: (m.normal(16, 128, 28, 28), m.normal(128), m.normal(128)),
         _group_norm, ours=_in_groups),
    Case("bilinear_sample", "bilinear_sample", _points, _sampled, None, None),
    Case("attention", "attention", _heads, functional.scaled_dot_product_attention, None, None, most=1.0),
    Case("attention, causal", "attention", _heads, _causal(functional.scaled_dot_product_attention), None, None,
         _causal, most=1.0),
    Case("linear 256", "linear", lambda m: (m.normal(256, 256), m.normal(256, 256), m.normal(256)),
         functional.linear, None, None, most=1.03),
    Case("linear 1024", "linear", lambda m: (m.normal(1024, 1024), m.normal(1024, 1024), m.normal(1024)),
         functional.linear, None, None, most=1.03),
    Case("linear and gelu", "linear_activation", lambda m: (m.normal(512, 512), m.normal(512, 512), m.normal(512)),
         lambda x, w, b: functional.gelu(functional.linear(x, w, b)), None, None,
         lambda op: lambda x, w, b: op(x, w, b, activation="gelu"), most=1.0),
    Case("conv2d", "conv2d", lambda m: (m.normal(8, 64, 56, 56), m.normal(64, 64, 3, 3), m.normal(64)),
         lambda x, w, b: functional.conv2d(x, w, b, padding=1), None, None,
         lambda op: lambda x, w, b: op(x, w, b, padding=1), most=1.03),
    Case("message passing", "message_passing", lambda m: (m.normal(5000, 64), *_edges(m, 5000, 60_000)),
         _messages, None, None),
    Case("graph attention", "graph_attention",
         lambda m: (m.normal(5000, 4, 32), *_edges(m, 5000, 60_000), m.normal(4, 32), m.normal(4, 32)),
         _graph_attention, None, None),
    Case("forces of pairs", "lennard_jones", _crystal, _forces(_pairs), None, None, _forces),
    Case("forces of an edge block", "edge_block", _molecule, _forces(_edge_block), None, None, _forces),
)  # fmt: skip
