"""The dtypes that a spec may name: kinds of any size, and those that values are stored in."""

from __future__ import annotations

WHOLE = ("int8", "uint8", "int16", "int32", "int64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
FLOATS = ("float64", "float32", "half", "bfloat16", *FLOAT8)
DTYPES = ("float", "int", "bool", "complex", "seed", *WHOLE, *FLOATS)
OF_OUTPUTS = tuple(name for name in DTYPES if name != "seed")
WITHOUT_GRADIENT = ("int", "bool", "seed", *WHOLE, *FLOAT8)
