"""The names of reductions: what the choices of a param are called that stands for one."""

from __future__ import annotations

REDUCTIONS = (
    "sum", "prod", "mean", "max", "min", "logsumexp", "norm", "var", "any", "all", "count", "argmax", "argmin",
    "softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp", "argsort", "sort", "median", "quantile", "kth",
)  # fmt: skip
