"""What `backends.py` measures: operators of the catalogue with their sizes, small, medium and large.

A size gives each dim of the declared shapes (`...`: the batch dims) and, under the name of an integer input, how many
values there are to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from opgen.diagnostics.model import Bag
from opgen.ir.program import Kind
from opgen.ir.scalar import Batch, Dim, Lit
from opgen.pipeline import Artefacts, Stage, read, run

SPECS = Path(__file__).resolve().parent.parent / "specs"
Size = Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """Three sizes, params (the name of a dim: its size), and the optional inputs that are left out."""

    sizes: tuple[Size, Size, Size]
    params: dict[str, Any] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def sizes(small: Size, medium: Size, large: Size) -> tuple[Size, Size, Size]:
    return small, medium, large


def rows(**dims: tuple[int, int, int]) -> tuple[Size, Size, Size]:
    """Sizes by dim; `batch` is the number of rows."""
    names = {n: "..." if n == "batch" else n for n in dims}
    return sizes(*({names[n]: (v[k],) if n == "batch" else v[k] for n, v in dims.items()} for k in range(3)))


ELEMENTS = rows(batch=(32, 65536, 1048576))
VECTORS = rows(batch=(8, 4096, 65536))
ROWS = (8, 64, 1024)
WIDTH = (8, 1024, 1024)
NODES = {"N": (16, 4096, 65536), "S": (4, 256, 4096), "segment": (4, 256, 4096), "batch": (8, 16, 32)}
POINTS = {"batch": (1, 1, 2), "M": (8, 128, 1024), "N": (8, 128, 1024), "D": (3, 3, 3)}
IMAGE = {"N": (1, 4, 16), "C": (2, 16, 64), "H": (6, 32, 56), "W": (6, 32, 56)}
LINEAR = {"batch": (4, 128, 2048), "K": (8, 256, 1024), "N": (8, 256, 1024)}
MEAN: dict[str, Any] = {"reduction": "mean"}

SUBJECTS = {
    "alpha_compositing": Subject(rows(batch=ROWS, T=(4, 64, 128), C=(3, 3, 3))),
    "attention": Subject(rows(batch=(1, 4, 8), L=(8, 128, 1024), S=(8, 128, 1024), E=(8, 64, 64), V=(8, 64, 64))),
    "avg_pool2d": Subject(rows(batch=(2, 64, 256), H=(6, 32, 56), W=(6, 32, 56)), {"kernel_size": 2}),
    "bilinear": Subject(rows(batch=(4, 64, 512), I=(4, 32, 64), J=(4, 32, 64), O=(4, 32, 64))),
    "bilinear_sample": Subject(rows(H=(4, 64, 512), W=(4, 64, 512), N=(8, 4096, 65536))),
    "bilinear_splat": Subject(rows(N=(8, 4096, 65536)), {"height": 64, "width": 64}),
    "binary_cross_entropy_with_logits": Subject(ELEMENTS, absent=("weight", "pos_weight")),
    "bspline_kan": Subject(rows(batch=(4, 64, 1024), I=(4, 32, 64), O=(4, 32, 64), K=(8, 8, 8))),
    "col2im": Subject(
        sizes(*({"N": n, "D": 9 * c, "L": 28 * 28} for n, c in ((1, 2), (4, 16), (16, 64)))),
        {"height": 28, "width": 28, "kernel_size": 3, "padding": 1},
    ),
    "complex_linear": Subject(rows(batch=(4, 128, 1024), K=(8, 128, 512), N=(8, 128, 512))),
    "conv1d": Subject(
        rows(N=(1, 4, 16), C=(4, 16, 64), Cg=(4, 16, 64), L=(16, 256, 1024), O=(4, 16, 64), K=(3, 3, 3)), {"padding": 1}
    ),
    "conv2d": Subject(rows(**IMAGE, Cg=(2, 16, 64), O=(2, 16, 64), R=(3, 3, 3), S=(3, 3, 3)), {"padding": 1}),
    "conv_transpose1d": Subject(rows(N=(1, 4, 16), C=(4, 16, 64), L=(16, 256, 1024), O=(4, 16, 64), K=(3, 3, 3))),
    "cosine_embedding_loss": Subject(rows(N=ROWS, D=WIDTH, target=(2, 2, 2))),
    "cosine_similarity": Subject(rows(batch=ROWS, D=WIDTH)),
    "cross_entropy": Subject(
        sizes(*({"...": (), "N": n, "C": c, "target": c} for n, c in ((8, 10), (128, 1000), (512, 4096)))),
        absent=("weight",),
    ),
    "elu": Subject(ELEMENTS),
    "embedding": Subject(rows(batch=(8, 2048, 4096), V=(10, 10000, 20000), D=(8, 64, 128), input=(10, 10000, 20000))),
    "embedding_bag": Subject(
        rows(N=(4, 256, 4096), L=(4, 16, 32), V=(10, 10000, 20000), D=(8, 64, 64), input=(10, 10000, 20000)),
        absent=("per_sample_weights",),
    ),
    "focal_loss": Subject(ELEMENTS),
    "gated_recurrence": Subject(rows(batch=(2, 8, 16), T=(8, 128, 512), D=(8, 64, 256)), absent=("initial",)),
    "gaussian_kernel_sum": Subject(rows(**POINTS, E=(2, 8, 16))),
    "geglu": Subject(ELEMENTS),
    "gelu": Subject(ELEMENTS),
    "gradient_reversal": Subject(ELEMENTS),
    "group_norm": Subject(
        sizes(*({"N": n, "C": c, "...": (h, h)} for n, c, h in ((1, 4, 4), (4, 32, 16), (16, 64, 56)))),
        {"num_groups": 2},
    ),
    "hinge_loss": Subject(ELEMENTS),
    "histogram": Subject(rows(N=(32, 65536, 1048576)), {"bins": 64}, absent=("weight",)),
    "huber_loss": Subject(ELEMENTS),
    "info_nce": Subject(rows(N=(8, 128, 1024), D=(8, 64, 128))),
    "js_divergence": Subject(rows(batch=ROWS, K=WIDTH)),
    "kl_div": Subject(sizes(*({"N": n, "...": (c,)} for n, c in ((4, 8), (64, 1024), (1024, 1024))))),
    "layer_norm": Subject(rows(batch=ROWS, D=WIDTH)),
    "lennard_jones": Subject(rows(batch=(1, 2, 2), N=(8, 64, 512)), absent=("box",)),
    "linear": Subject(rows(**LINEAR)),
    "linear_activation": Subject(rows(**LINEAR)),
    "linear_attention": Subject(
        rows(batch=(1, 4, 8), L=(8, 128, 1024), S=(8, 128, 1024), E=(8, 64, 64), V=(8, 64, 64))
    ),
    "log_softmax": Subject(rows(batch=ROWS, N=WIDTH)),
    "logsumexp": Subject(rows(batch=ROWS, N=WIDTH)),
    "lora_linear": Subject(rows(**LINEAR, R=(2, 8, 16))),
    "max_pool2d": Subject(rows(batch=(2, 64, 256), H=(6, 32, 56), W=(6, 32, 56)), {"kernel_size": 2}),
    "max_with_index": Subject(rows(batch=ROWS, N=WIDTH)),
    "message_passing": Subject(
        sizes(
            *(
                {"V": v, "D": d, "E": e, "source": v, "target": v}
                for v, d, e in ((8, 8, 16), (1024, 32, 8192), (8192, 64, 65536))
            )
        ),
        absent=("edge_weight",),
    ),
    "mish": Subject(ELEMENTS),
    "modrelu": Subject(rows(batch=ROWS, C=WIDTH)),
    "mse_loss": Subject(ELEMENTS),
    "mul_constant": Subject(ELEMENTS, {"constant": 1.5}),
    "phase_rotation": Subject(rows(batch=(1, 8, 32), T=(8, 128, 512), D=(8, 64, 64))),
    "pixel_shuffle": Subject(
        rows(batch=(1, 4, 8), C=(4, 64, 128), H=(4, 32, 56), W=(4, 32, 56)), {"upscale_factor": 2}
    ),
    "quaternion_rotate": Subject(VECTORS),
    "ray_sphere": Subject(VECTORS),
    "rms_norm": Subject(rows(batch=ROWS, D=WIDTH)),
    "rms_norm_residual": Subject(rows(batch=ROWS, D=WIDTH)),
    "rope": Subject(rows(batch=(1, 8, 32), T=(8, 128, 512), D=(8, 64, 64), H=(4, 32, 32))),
    "scaled_clamp": Subject(ELEMENTS),
    "se3_exp_act": Subject(VECTORS),
    "segment_max": Subject(rows(**NODES), {"num_segments": "segment"}),
    "segment_mean": Subject(rows(**NODES), {"num_segments": "segment"}),
    "segment_softmax": Subject(
        rows(E=(16, 4096, 65536), segment=(4, 256, 4096), batch=(8, 16, 32)), {"num_segments": "segment"}
    ),
    "segment_sum": Subject(rows(**NODES), {"num_segments": "segment"}),
    "silu": Subject(ELEMENTS),
    "sinkhorn_softmin": Subject(rows(**POINTS)),
    "smooth_l1_loss": Subject(ELEMENTS),
    "snake_activation": Subject(
        sizes(*({"N": n, "C": c, "...": (t,)} for n, c, t in ((1, 4, 8), (4, 64, 256), (16, 256, 1024))))
    ),
    "so3_exp_act": Subject(VECTORS),
    "softmax": Subject(rows(batch=ROWS, N=WIDTH)),
    "softplus": Subject(ELEMENTS),
    "squared_relu": Subject(ELEMENTS),
    "swiglu": Subject(ELEMENTS),
    "swiglu_linear": Subject(rows(**LINEAR)),
    "triplet_margin_loss": Subject(rows(batch=ROWS, D=WIDTH)),
    "unfold": Subject(rows(**IMAGE), {"kernel_size": 3, "padding": 1}),
    "z_loss": Subject(rows(N=ROWS, V=WIDTH), absent=("labels",)),
}


@cache
def spec(name: str) -> Artefacts:
    file = read(SPECS / f"{name}.yaml", Bag())
    assert file is not None
    return run(file, Stage.PROGRAM)


def operands(name: str, subject: Subject, size: Size) -> list[torch.Tensor | None]:
    """Random tensors in the declared shapes; floats require grad."""
    made = spec(name)
    assert made.spec is not None
    assert made.operator is not None
    bounded = {i.name for i in made.spec.inputs if i.domain is not None}
    found: list[torch.Tensor | None] = []
    for t in made.operator.operands:
        if t.name in subject.absent:
            found.append(None)
            continue
        shape: list[int] = []
        for s in t.shape:
            assert isinstance(s, Batch | Dim | Lit)
            shape += size["..."] if isinstance(s, Batch) else [int(s.value) if isinstance(s, Lit) else size[s.name]]
        if t.kind is Kind.INT:
            found.append(torch.randint(size[t.name], shape))
        elif t.kind is Kind.COMPLEX:
            found.append(torch.randn(shape, dtype=torch.complex64, requires_grad=True))
        else:
            values = torch.rand(shape) * 0.9 + 0.05 if t.name in bounded else torch.randn(shape)
            found.append(values.requires_grad_(t.differentiable))
    return found


def params(subject: Subject, size: Size) -> dict[str, Any]:
    return {k: size[v] if isinstance(v, str) and v in size else v for k, v in subject.params.items()}
