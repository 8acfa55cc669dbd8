"""`y = x * sigmoid(x)`, written by hand in the five usual ways, each as completely as its documentation shows.

Backward is written in differentiable torch operations everywhere, so that second order has a chance.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def slope(x: Tensor) -> Tensor:
    """The derivative."""
    s = torch.sigmoid(x)
    return s * (1 + x * (1 - s))


class Combined(torch.autograd.Function):
    """`forward(ctx, …)`, as in the older documentation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * slope(x)


class Separate(torch.autograd.Function):
    """`forward` and `setup_context`, with forward mode and a generated batching rule."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x * torch.sigmoid(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * slope(x)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return tangent * slope(x)


@torch.library.custom_op("routes::custom", mutates_args=())
def custom(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x)


@custom.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def _remember(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> Tensor:
    (x,) = ctx.saved_tensors
    return grad * slope(x)


custom.register_autograd(_backward, setup_context=_remember)


@custom.register_vmap
def _(info: Any, in_dims: tuple[int | None], x: Tensor) -> tuple[Tensor, int | None]:
    return custom(x), in_dims[0]


CPP = """
#include <torch/extension.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor compute(const at::Tensor& x) { return x * at::sigmoid(x); }

at::Tensor below(const at::Tensor& x) {
  at::AutoDispatchBelowADInplaceOrView guard;
  static auto schema = c10::Dispatcher::singleton().findSchemaOrThrow("routes::cpp", "");
  static auto op = schema.typed<at::Tensor(const at::Tensor&)>();
  return op.call(x);
}

struct Node : torch::autograd::Function<Node> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x) {
    ctx->save_for_backward({x});
    return below(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto x = ctx->get_saved_variables()[0];
    auto s = at::sigmoid(x);
    return {grads[0] * s * (1 + x * (1 - s))};
  }
};

at::Tensor differentiable(const at::Tensor& x) { return Node::apply(x); }

TORCH_LIBRARY_FRAGMENT(routes, m) { m.def("cpp(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(routes, CPU, m) { m.impl("cpp", &compute); }
TORCH_LIBRARY_IMPL(routes, Autograd, m) { m.impl("cpp", &differentiable); }
"""


def cpp() -> Any:
    """The C++ route: a dispatcher op with a C++ autograd function and a fake kernel; takes a minute to compile."""
    from torch.utils.cpp_extension import load_inline

    load_inline("routes_cpp", CPP, is_python_module=False, verbose=False)
    torch.library.register_fake("routes::cpp", torch.empty_like)
    return torch.ops.routes.cpp.default


def composition(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x)
