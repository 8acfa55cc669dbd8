"""What is only at every so many points along an index, in every derivative. `SHAPES`: those of specs that need some."""

from __future__ import annotations

_ROWS = (
    "inputs: {w: {shape: [M]}, on: {shape: [T], dtype: int}, ids: {shape: [T], dtype: int, domain: 0 <= ids < T}}\n"
    "dims: {N: 2*M}\n"
)
_SUMS = (
    "inputs: {x: {shape: [M]}, w: {shape: [K, N]}, s: {shape: [K, N]}, r: {shape: [N]}, on: {shape: [K], dtype: int}}\n"
    "outputs: [y]\n"
)
_ROW_SHAPES = {"w": (4,), "on": (3,), "ids": (3,)}
_WHOLE_SHAPES = {"x": (6,), "w": (3, 6)}
_SUM_SHAPES = {"x": (6,), "w": (3, 6), "s": (3, 6), "r": (6,), "on": (3,)}


def _where(condition: str, at: str = "i//2") -> str:
    return f"{_ROWS}forward: 'y[t < T, i < N] = where({condition}, w[{at}], 0)'\n"


def _sum(condition: str, at: str = "(i + k)//2", first: str = "") -> str:
    """Sums at every second place; `first`: what is folded before them, in the same kernel."""
    value = f"sum[k](where({condition}, w[k, i]*pad(x[{at}], 0), 0))"
    return f"{_SUMS}forward: |\n  {first}\n  y[i < N] = {value}\n"


_BEST = "best[i < N] = argmax[j](s[j, i])"
_WHOLE = (
    "inputs: {w: {shape: [K, N], dtype: int}, x: {shape: [M], dtype: int}}\n"
    "forward: 'z[i < N] = FOLD[k](where((i + k) % 2 == 0, pad(x[(i + k)//2], 0) - square(w[k, i]) - 5, 0))'\n"
)

_OF_ROWS = {
    "a place that is read at a place, moved by a half": _where("0 <= on[ids[t]] + i//2 < M", "on[ids[t]] + i//2"),
    "a position that is asked about, and not read": _where("on[t] + i//2 >= 0 and on[t] + i//2 < M"),
    "a half that is below what data tell": _where("i//2 < on[t]"),
    "a half that is in a range that data tell": _where("i//2 >= 0 and i//2 < on[t]"),
    "what data divide": _where("i//clamp(on[t], 1, 3) < M", "i//clamp(on[t], 1, 3)"),
    "what another index divides": _where("i//(t + 1) < M", "i//(t + 1)"),
}
_OF_SUMS = {
    "multiples that data tell, of what is read elsewhere": _sum("(i + on[k]) % 2 == 0", "i//2"),
    "every second one where a fold of the same kernel is above zero": (
        f"{_SUMS}forward: |\n  z[i < N] = sum[j](s[j, i])\n"
        "  y[i < N] = z[i]*sum[k](where(z[i] > 0 and (i + k) % 2 == 0, w[k, i]*pad(x[(i + k)//2], 0), 0))\n"
    ),
    "every second one at a place that a fold tells": _sum("(i + k) % 2 == 0", "best[i] + (i + k)//2", _BEST),
    "every second one, moved by what a fold tells": _sum("(i + k + best[i]) % 2 == 0", first=_BEST),
    "every second one that a fold bounds": _sum("(i + k) % 2 == 0 and (i + k)//2 < best[i]", first=_BEST),
    "every second one as a sum and on its own": (
        f"{_SUMS}forward: 'y[i < N] = r[i]*sum[k](where((i + k) % 2 == 0, w[k, i]*pad(x[(i + k)//2], 0), 0))'\n"
    ),
    "every second one in a sum of exponentials, far below zero": (
        f"{_SUMS}forward: 'y[i < N] = logsumexp[k](where((i + k) % 2 == 0, w[k, i]*pad(x[(i + k)//2], 0) - 1000, 0))'\n"
    ),
}
_OF_WHOLE = {
    "the greatest of zeros and every second one": _WHOLE.replace("FOLD", "max"),
    "the product of zeros and every second one": _WHOLE.replace("FOLD", "prod"),
}

FOUND = {
    **_OF_ROWS,
    **_OF_SUMS,
    **_OF_WHOLE,
    "a place that is asked about in the words of a local, and read in its own": (
        "inputs: {x: {shape: [N, N]}, y: {shape: [N, N]}}\n"
        "forward: |\n"
        "  t[p, i] = y[p, i]\n"
        "  t[(2*q + 1) % N, i] min= x[q, 0]\n"
        "  z[i < N] = pad(t[i, 2 - i], -1.5)\n"
    ),
    "a half that is below an input": (
        "inputs: {w: {shape: [M]}, o: {shape: [], dtype: int}}\n"
        "dims: {N: 2*M}\n"
        "forward: 'y[t < 3, i < N] = where(i//2 < o, w[i//2], 0)'\n"
    ),
    "rows that data divide": (
        "inputs: {x: {shape: [N, K]}, on: {shape: [N], dtype: int}, w: {shape: [M]}}\n"
        "forward: 'y[i] = sum[k](x[i, k]*pad(w[k//clamp(on[i], 1, 3)], 0))'\n"
    ),
    "rows that a fold divides": (
        "inputs: {x: {shape: [N, K]}, w: {shape: [M]}}\n"
        "forward: |\n"
        "  best[i] = argmax[k](x[i, k])\n"
        "  y[i] = sum[k](x[i, k]*pad(w[k//(best[i] + 1)], 0))\n"
    ),
}

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    **dict.fromkeys(_OF_ROWS, _ROW_SHAPES),
    **dict.fromkeys(_OF_SUMS, _SUM_SHAPES),
    **dict.fromkeys(_OF_WHOLE, _WHOLE_SHAPES),
    "a place that is asked about in the words of a local, and read in its own": {"x": (3, 3), "y": (3, 3)},
    "a half that is below an input": {"w": (4,), "o": ()},
    "rows that data divide": {"x": (3, 4), "on": (3,), "w": (4,)},
    "rows that a fold divides": {"x": (3, 4), "w": (4,)},
}
