"""Long programs of every kind: `n` statements one after the other, or `n` calls within each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

FUNCTIONS = {
    "gelu": "gelu(v): 0.5*v*(1 + erf(v/sqrt(2)))",
    "swish": "swish(v): v/(1 + exp(-v))",
    "squash": "squash(v): (exp(v) - exp(-v))/(exp(v) + exp(-v))",
    "soft": "soft(v): log(1 + exp(v))",
    "leaky": "leaky(v): where(v > 0, v, 0.1*v)",
    "clip": "clip(v): max(min(v, 1), -1)",
    "either": "either(u, v): where(u > v, u*v, u - v)",
}
_PLAIN = ("x: {shape: [...]}", "w: {shape: [...]}")
_ROWS = ("x: {shape: [..., K]}", "w: {shape: [..., K]}")
_TABLE = ("x: {shape: [K]}", "w: {shape: [K]}", "ids: {shape: [K], dtype: int, domain: 0 <= ids < K}")
_MATRIX = ("x: {shape: [..., K]}", "w: {shape: [K, K]}")


def _spec(lines: Iterable[str], inputs: Iterable[str], outputs: Iterable[str] = ("y",)) -> str:
    text = "\n".join(f"  {line}" for line in lines)
    used = "\n".join(f"  {f}" for name, f in FUNCTIONS.items() if f"{name}(" in text)
    parts = ["op: grown", "inputs:", *(f"  {i}" for i in inputs), f"outputs: [{', '.join(outputs)}]"]
    return "\n".join([*parts, *(["functions:", used] if used else []), "forward: |", text]) + "\n"


def chain(*steps: str, inputs: Iterable[str] = _PLAIN, axes: str = "", every: int = 0) -> Callable[[int], str]:
    """`n` statements, those of the steps in turn: `new` is computed from `old`, the result of the step before."""

    def made(n: int) -> str:
        lines, results = [f"t0{axes} = x{axes}*{'w' + axes if inputs is not _MATRIX else 2}"], ["y"]
        k = 0
        while len(lines) < n:
            k += 1
            step = steps[k % len(steps)]
            names = {"old": f"t{k - 1}", "older": f"t{max(k - 2, 0)}", "new": f"t{k}", "k": str(k)}
            lines += step.format(**names).splitlines()
            if every and k % every == 0:
                results.append(f"t{k}")
        return _spec([*lines, f"y{axes} = t{k}{axes}"], inputs, results)

    return made


def nest(step: str, inputs: Iterable[str] = _PLAIN, axes: str = "") -> Callable[[int], str]:
    """`n` calls within each other."""

    def made(n: int) -> str:
        inner = f"x{axes}*w{axes}"
        for _ in range(n):
            inner = step.replace("#", inner)
        return _spec([f"y{axes} = {inner}"], inputs)

    return made


_EACH = "{new}[..., k] = "
CHAINS: dict[str, Callable[[int], str]] = {
    "products": chain("{new} = {old}*w"),
    "quotients": chain("{new} = {old}/(1 + w**2)"),
    "quotients below": chain("{new} = w/(2 + {old})"),
    "sums": chain("{new} = {old} + w - 0.5"),
    "leaky": chain("{new} = where({old} > 0, {old}*w, 0.1*{old})"),
    "leaky calls": chain("{new} = leaky({old}*w)"),
    "branches": chain("{new} = where({old} > w, sin({old}*w), exp(-{old}**2))"),
    "guarded": chain("{new} = where({old} > 0, log({old}), {old})"),
    "conditions": chain("{new} = where({old} > 0 and ({old} < w or x > 1), {old}*w, {old})"),
    "clip": chain("{new} = max(min({old}*w, 1), -1)"),
    "abs": chain("{new} = abs({old}) - w"),
    "exp": chain("{new} = exp(-{old}*w)"),
    "log": chain("{new} = log(1 + {old}**2)"),
    "sqrt": chain("{new} = sqrt(1 + {old}**2)"),
    "tanh": chain("{new} = tanh({old}*w)"),
    "sigmoid": chain("{new} = sigmoid({old} + w)"),
    "gelu": chain("{new} = gelu({old}*w)"),
    "swish": chain("{new} = swish({old}*w)"),
    "squash": chain("{new} = squash({old}*w)"),
    "softplus": chain("{new} = soft({old} - w)"),
    "powers": chain("{new} = 0.5*({old} + w)**2"),
    "roots": chain("{new} = (1 + {old}**2)**1.5/(2 + {old}**2)"),
    "residual": chain("{new} = {old} + w*tanh({old})"),
    "two back": chain("{new} = {old}*w + {older}*x"),
    "two factors": chain("{new} = {old}*{older}"),
    "casts": chain("{new} = cast({old}*w, x)"),
    "detached": chain("{new} = {old}*w + detach(sin({old}))"),
    "several outputs": chain("{new} = tanh({old}*w)", every=10),
    "softmax": chain(_EACH + "softmax[k]({old}[..., k]*w[..., k])", inputs=_ROWS, axes="[..., k]"),
    "normalise": chain(
        "m{k}[...] = mean[k]({old}[..., k])\n"
        "v{k}[...] = mean[k](({old}[..., k] - m{k}[...])**2)\n"
        "{new}[..., k] = ({old}[..., k] - m{k}[...])/sqrt(v{k}[...] + 1e-5)*w[..., k]",
        inputs=_ROWS,
        axes="[..., k]",
    ),
    "sums and broadcasts": chain(
        _EACH + "{old}[..., k]*w[..., k] - mean[j]({old}[..., j]**2)", inputs=_ROWS, axes="[..., k]"
    ),
    "logsumexp": chain(_EACH + "{old}[..., k] - logsumexp[j]({old}[..., j])", inputs=_ROWS, axes="[..., k]"),
    "extremes": chain(_EACH + "{old}[..., k]*w[..., k] - max[j]({old}[..., j])", inputs=_ROWS, axes="[..., k]"),
    "contractions": chain("{new}[..., n] = sum[k]({old}[..., k]*w[n, k])", inputs=_MATRIX, axes="[..., k]"),
    "dense layers": chain("{new}[..., n] = tanh(sum[k]({old}[..., k]*w[n, k]))", inputs=_MATRIX, axes="[..., k]"),
    "gathers": chain("{new}[k] = {old}[ids[k]]*w[k]", inputs=_TABLE, axes="[k]"),
    "scatters": chain("{new}[k < K] = 0\n{new}[ids[k]] += {old}[k]*w[k]", inputs=_TABLE, axes="[k]"),
    "pads": chain(_EACH + "pad({old}[..., k - 1], 0)*w[..., k] + {old}[..., k]", inputs=_ROWS, axes="[..., k]"),
    "shifts": chain(_EACH + "where(k > 0, {old}[..., k - 1]*w[..., k], {old}[..., k])", inputs=_ROWS, axes="[..., k]"),
    "cumsum": chain(_EACH + "cumsum[k]({old}[..., k]*w[..., k])", inputs=_ROWS, axes="[..., k]"),
    "recurrences": chain(
        _EACH + "where(k > 0, 0.5*{new}[..., k - 1], 0) + {old}[..., k]*w[..., k]", inputs=_ROWS, axes="[..., k]"
    ),
    "alternating": chain(
        _EACH + "leaky({old}[..., k]*w[..., k])",
        _EACH + "softmax[k]({old}[..., k])",
        _EACH + "gelu({old}[..., k] + {older}[..., k])",
        _EACH + "max(min({old}[..., k], 1), w[..., k])",
        _EACH + "{old}[..., k] - mean[j]({old}[..., j])",
        _EACH + "pad({old}[..., k + 1], 0) + log(1 + exp({old}[..., k]))",
        _EACH + "{old}[..., k]**2/(1 + abs({old}[..., k]))",
        inputs=_ROWS,
        axes="[..., k]",
    ),
    "alternating maps": chain(
        "{new} = leaky({old}*w)",
        "{new} = tanh({old}) + {older}",
        "{new} = gelu({old} + w)",
        "{new} = max(min({old}, 1), w)",
        "{new} = log(1 + exp({old}))",
        "{new} = {old}**2/(1 + abs({old}))",
        "{new} = either({old}, {older})",
    ),
}
NESTS: dict[str, Callable[[int], str]] = {
    "parentheses": nest("(#)"),
    "sums": nest("(# + w)"),
    "products": nest("((#)*w + x)"),
    "minus signs": nest("-(# - w)"),
    "tanh": nest("tanh(#)"),
    "tanh with factors": nest("tanh(w*#)"),
    "exp": nest("exp(-#)"),
    "log": nest("log(2 + #)"),
    "quotients": nest("w/(2 + #)"),
    "powers": nest("(w + #)**2"),
    "clip": nest("max(min(#, w), x)"),
    "clip calls": nest("clip(#*w)"),
    "leaky": nest("leaky(#*w)"),
    "gelu": nest("gelu(#*w)"),
    "swish": nest("swish(#)"),
    "squash": nest("squash(#)"),
    "softplus": nest("soft(#)"),
    "branches": nest("where(x > w, #, w)"),
    "other branches": nest("where(x > w, exp(-w), tanh(#))"),
    "conditions": nest("where(# > w, x, w)"),
    "two arguments": nest("either(w, #)"),
    "gelu in branches": nest("where(x > 0, gelu(#), x)"),
    "softmax": nest("softmax[k](w[..., k]*#)", inputs=_ROWS, axes="[..., k]"),
    "sums over indices": nest("x[..., k]*sum[k](#)", inputs=_ROWS, axes="[..., k]"),
    "gathers": lambda n: _spec([f"y[k] = x[{'ids[' * n}k{']' * n}]*w[k]"], _TABLE),
}


def functions_in_functions(n: int) -> str:
    """Local functions that call one another."""
    bodies = [f"  f{k}(v): tanh(f{k - 1}(v)*v) + v" if k else "  f0(v): leaky(v)" for k in range(n)]
    lines = ["op: grown", "inputs: [x]", "functions:", f"  {FUNCTIONS['leaky']}", *bodies]
    return "\n".join([*lines, f"forward: y = f{n - 1}(x)"]) + "\n"


NESTS["functions in functions"] = functions_in_functions


def switches(n: int) -> str:
    """Choices by a param, each between places that data tell and one that a size has to reach."""
    steps = [
        f"  t{k + 1}[..., k] = where(p > {k}, t{k}[..., k]*w[..., k] + s[ids[k]], 0.5*t{k}[..., k] + s[1])"
        for k in range(n)
    ]
    inputs = ("  t0: {shape: [..., K]}", "  w: {shape: [..., K]}", "  s: {shape: [M]}")
    ids = "  ids: {shape: [K], dtype: int, domain: 0 <= ids < M}"
    head = ["op: grown", "inputs:", *inputs, ids, "params: {p: {type: int, default: 3}}", f"outputs: [t{n}]"]
    return "\n".join([*head, "forward: |", *steps]) + "\n"


CHAINS["switches"] = switches


def steps_of_a_recurrence(n: int) -> str:
    """Names that one recurrence computes together."""
    lines = [f"t{k}[..., k] = tanh(t{k - 1}[..., k]*w[..., k])" for k in range(1, n)]
    first = f"t0[..., k] = x[..., k] + 0.5*t{n - 1}[..., k - 1]"
    return _spec([first, *lines, f"y[..., k] = t{n - 1}[..., k]"], _ROWS)


CHAINS["steps of a recurrence"] = steps_of_a_recurrence
