"""What each instruction does to a thread, and how many of them a launch issues."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence

from tests.cuda.sass import LONG, WORD, Access, Function, Instruction, Step, Thread, bits, real, signed


def _outs(args: list[str]) -> tuple[list[str], str, list[str]]:
    """Predicates that are set, the register that is set, and what is read."""
    out = next(k for k, a in enumerate(args) if not re.fullmatch(r"U?P\w+", a))
    read = next(k for k, a in enumerate(args) if k > out and not re.fullmatch(r"U?P\w+", a))
    return args[:out] + args[out + 1 : read], args[out], args[read:]


def _mad(t: Thread, i: Instruction, args: list[str]) -> None:
    carries, out, (a, b, c, *more) = _outs(args)
    x, y = t.word(a), t.word(b)
    carry = sum(t.holds(p) for p in more)
    if "MOV" in i.flags or "IADD" in i.flags or "SHL" in i.flags or not {"WIDE", "HI"} & set(i.flags):
        total = (x * y & WORD) + t.word(c) + carry
        t.put(out, total)
    else:
        if "U32" not in i.flags:
            x, y = signed(x), signed(y)
        total = (x * y & LONG) + t.long(c) + carry
        if "HI" in i.flags:
            t.put(out, total >> 32)
        else:
            t.put_long(out, total)
    for p in carries:
        t.decide(p, total >> (64 if "WIDE" in i.flags else 32) > 0)


def _add(t: Thread, i: Instruction, args: list[str]) -> None:
    carries, out, parts = _outs(args)
    terms = parts[:3] if i.name.endswith("IADD3") else parts[:2]
    total = sum(t.word(a) + (a[0] == "-" and not a[1].isdigit() and t.word(a) == 0) * (1 << 32) for a in terms)
    total += sum(t.holds(p) for p in parts[3:])
    t.put(out, total)
    for k, p in enumerate(carries):
        t.decide(p, total >> 32 > k)


def _lea(t: Thread, i: Instruction, args: list[str]) -> None:
    carries, out, (a, b, *more) = _outs(args)
    carry = sum(t.holds(more.pop()) for _ in range("X" in i.flags))
    if "HI" in i.flags:
        low = t.word(a)
        high = (WORD if low >> 31 else 0) if "SX32" in i.flags else t.word(more.pop(0))
        total = ((high << 32 | low) << t.word(more[0]) >> 32 & WORD) + t.word(b) + carry
    else:
        total = (t.word(a) << (t.word(more[0]) if more else 0) & WORD) + t.word(b) + carry
    t.put(out, total)
    for p in carries:
        t.decide(p, total >> 32 > 0)


def _shift(t: Thread, i: Instruction, args: list[str]) -> None:
    out, low, by, high = args
    x, n = t.word(high) << 32 | t.word(low), min(t.word(by), 63)
    if "L" in i.flags:
        t.put(out, x << n >> 32 if "HI" in i.flags else t.word(low) << n)
    elif "HI" in i.flags:
        t.put(out, (signed(t.word(high)) if "S32" in i.flags else t.word(high)) >> n)
    else:
        t.put(out, (signed(x, 64) if "S64" in i.flags else x) >> n)


def _logic(t: Thread, _: Instruction, args: list[str]) -> None:
    carries, out, (a, b, c, table, *more) = _outs(args)
    x, y, z, lut = t.word(a), t.word(b), t.word(c), int(table, 16)
    value = 0
    for k in range(8):
        if lut >> k & 1:
            value |= (x if k & 4 else ~x) & (y if k & 2 else ~y) & (z if k & 1 else ~z)
    t.put(out, value & WORD)
    for p in carries:
        t.decide(p, value & WORD != 0 or any(map(t.holds, more)))


def _plop(t: Thread, _: Instruction, args: list[str]) -> None:
    k = 4 * t.holds(args[2]) + 2 * t.holds(args[3]) + t.holds(args[4])
    t.decide(args[0], bool(int(args[5], 16) >> k & 1))
    t.decide(args[1], bool(int(args[6], 16) >> k & 1))


def compare(how: str, x: float, y: float) -> bool:
    if how in ("NUM", "NAN"):
        return (math.isnan(x) or math.isnan(y)) is (how == "NAN")
    if how.endswith("U") and (math.isnan(x) or math.isnan(y)):
        return True
    known = {"LT": x < y, "LE": x <= y, "GT": x > y, "GE": x >= y, "EQ": x == y, "NE": x != y}
    return known[how[:2]] and not (math.isnan(x) or math.isnan(y))


def _decided(t: Thread, i: Instruction, args: list[str], value: bool) -> None:
    other = t.holds(args[4])
    if "OR" in i.flags:
        t.decide(args[0], value or other)
        t.decide(args[1], not value or other)
    else:
        t.decide(args[0], value and other)
        t.decide(args[1], not value and other)


def _compared(t: Thread, i: Instruction, args: list[str]) -> None:
    x, y, how = t.word(args[2]), t.word(args[3]), i.flags[0]
    if "U32" not in i.flags:
        x, y = signed(x), signed(y)
    value = compare(how, x, y)
    if "EX" in i.flags:
        low = t.holds(args[5])
        value = (
            (x != y or low)
            if how == "NE"
            else x == y and low
            if how == "EQ"
            else compare(how[0] + "T", x, y) or (x == y and low)
        )
    _decided(t, i, args, value)


def _float(t: Thread, i: Instruction, args: list[str]) -> None:
    x = [t.number(a) for a in args[1:4] if not re.match(r"!?U?P", a)]
    with_nan = any(map(math.isnan, x[:2]))
    if i.name in ("FMNMX", "FMNMX3"):
        known = [v for v in x if not math.isnan(v)]
        value = math.nan if (with_nan and "NAN" in i.flags) or not known else (min if t.holds(args[-1]) else max)(known)
    else:
        value = x[0] + x[1] if i.name == "FADD" else x[0] * x[1] + (x[2] if i.name == "FFMA" else 0.0)
    if "SAT" in i.flags:
        value = 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0)
    word = bits(value)
    if ({"RM", "RZ"} & set(i.flags)) and math.isfinite(value) and real(word) > value:
        word -= 1 if value > 0 else -1
    t.put(args[0], word)


def _special(t: Thread, i: Instruction, args: list[str]) -> None:
    if i.flags[0].endswith("64H"):
        t.put(args[0], 0x3FF00000)
        return
    x = t.number(args[1])
    made: dict[str, Callable[[float], float]] = {
        "RCP": lambda v: 1 / v, "EX2": lambda v: 2.0**v, "RSQ": lambda v: v**-0.5, "LG2": math.log2,
        "SQRT": math.sqrt, "SIN": math.sin, "COS": math.cos, "TANH": math.tanh,
    }  # fmt: skip
    try:
        value = made[i.flags[0]](x)
    except (ZeroDivisionError, ValueError, OverflowError):
        value = math.inf
    t.put(args[0], bits(value if isinstance(value, float) else math.nan))


def _half(t: Thread, i: Instruction, args: list[str]) -> None:
    """Packed halves are only used to make constants and to widen here."""
    if i.name == "HADD2" and "F32" in i.flags:
        t.put(
            args[0],
            bits(sum(struct.unpack("<e", struct.pack("<H", t.word(a.lstrip("-")) & 0xFFFF))[0] for a in args[1:])),
        )
    elif len(args) >= 5:
        high, low = (int.from_bytes(struct.pack("<e", t.number(a)), "little") for a in args[3:5])
        t.put(args[0], high << 16 | low)
    else:
        t.put(args[0], 0x3C003C00)


def _extreme_halves(t: Thread, i: Instruction, args: list[str]) -> None:
    """The larger halves of two or three words, or the smaller ones; no half is nan here."""
    words = [t.word(a) for a in args[1:-1]]
    pick = min if t.holds(args[-1]) else max

    def order(half: int) -> int:
        return -(half & 0x7FFF) if half & 0x8000 else half

    low, high = (pick((w >> shift & 0xFFFF for w in words), key=order) for shift in (0, 16))
    t.put(args[0], high << 16 | low)


def _packed(t: Thread, i: Instruction, args: list[str]) -> None:
    def narrow(a: str) -> int:
        x = t.number(a)
        return (
            bits(x) + 0x8000 >> 16 & 0xFFFF
            if "BF16" in i.flags
            else int.from_bytes(struct.pack("<e", max(min(x, 6e4), -6e4)), "little")
        )

    t.put(args[0], narrow(args[1]) << 16 | narrow(args[2]) if len(args) > 2 else narrow(args[1]))


def _to_int(t: Thread, i: Instruction, args: list[str]) -> None:
    x = t.number(args[1])
    t.put_long(args[0], int(x) & LONG) if {"S64", "U64"} & set(i.flags) else t.put(
        args[0], int(x) if math.isfinite(x) else 0
    )


def _of_int(t: Thread, i: Instruction, args: list[str]) -> None:
    wide = {"S64", "U64"} & set(i.flags)
    value = float(
        signed(t.long(args[1]), 64) if wide else t.word(args[1]) if "U32" in i.flags else signed(t.word(args[1]))
    )
    if "F64" in i.flags:
        t.put_long(args[0], int.from_bytes(struct.pack("<d", value), "little"))
    else:
        t.put(args[0], bits(value))


def _permute(t: Thread, _: Instruction, args: list[str]) -> None:
    held = (t.word(args[1]) | t.word(args[3]) << 32).to_bytes(8, "little")
    chosen = [t.word(args[2]) >> 4 * k & 15 for k in range(4)]
    taken = [held[n & 7] if n < 8 else 255 * (held[n & 7] >> 7) for n in chosen]
    t.put(args[0], int.from_bytes(bytes(taken), "little"))


def _special_register(t: Thread, i: Instruction, args: list[str]) -> None:
    known = {"SR_TID.X": t.thread, "SR_TID.Y": t.behind, "SR_CTAID.X": t.block, "SR_LANEID": t.thread % 32}
    t.put(args[0], known.get(args[1], 0))
    if i.name == "CS2R" and "32" not in i.flags:
        t.put(args[0], 0, 1)


def _constant(t: Thread, i: Instruction, args: list[str]) -> None:
    for k in range(2 if "64" in i.flags else 1):
        t.put(args[0], t.word(args[1], k), k)


def _least(t: Thread, i: Instruction, args: list[str]) -> None:
    x, y = (t.word(a) if "U32" in i.flags else signed(t.word(a)) for a in args[1:3])
    t.put(args[0], min(x, y) if t.holds(args[-1]) else max(x, y))


def _add_least(t: Thread, i: Instruction, args: list[str]) -> None:
    x, y, z = (t.word(a) if "U32" in i.flags else signed(t.word(a)) for a in args[1:4])
    t.put(args[0], (min if t.holds(args[-1]) else max)(x + y, z))


def _shuffle(t: Thread, _: Instruction, args: list[str]) -> None:
    carries, out, rest = _outs(args)
    t.put(out, t.word(rest[0]))
    for p in carries:
        t.decide(p, True)


def _double(t: Thread, i: Instruction, args: list[str]) -> None:
    """Doubles only have to go on: none decides how often a loop runs."""
    if i.name == "DSETP":
        t.decide(args[0], False)
        t.decide(args[1], True)
    else:
        t.put_long(args[0], 0x3FF0000000000000)


def _vote(t: Thread, _: Instruction, args: list[str]) -> None:
    _, out, _ = _outs([*args, "RZ"])
    t.put(out, WORD)


def _kept(t: Thread, _: Instruction, args: list[str]) -> None:
    held, mask = sum(t.holds(f"P{k}") << k for k in range(7)), t.word(args[3])
    t.put(args[0], held & mask | t.word(args[2]) & ~mask)


def _restored(t: Thread, _: Instruction, args: list[str]) -> None:
    for k in range(7):
        if t.word(args[2]) >> k & 1:
            t.decide(f"P{k}", bool(t.word(args[1]) >> k & 1))


def _set(t: Thread, i: Instruction, args: list[str]) -> None:
    how = next(flag for flag in i.flags if flag != "BF")
    held = compare(how, t.number(args[1]), t.number(args[2])) and t.holds(args[3])
    t.put(args[0], (bits(1.0) if "BF" in i.flags else WORD) if held else 0)


def _access(t: Thread, i: Instruction, args: list[str]) -> None:
    t.access(i, args)


STEPS: dict[str, Step] = {
    "IMAD": _mad, "IADD3": _add, "VIADD": _add, "LEA": _lea, "SHF": _shift, "LOP3": _logic, "PLOP3": _plop,
    "ISETP": _compared, "MUFU": _special, "F2FP": _packed, "F2F": _packed, "F2I": _to_int, "I2F": _of_int,
    "I2FP": _of_int, "PRMT": _permute, "S2R": _special_register, "S2UR": _special_register,
    "CS2R": _special_register, "LDC": _constant, "VIMNMX": _least, "IMNMX": _least, "VIADDMNMX": _add_least,
    "FSET": _set, "P2R": _kept, "R2P": _restored, "SHFL": _shuffle, "VOTE": _vote, "VOTEU": _vote, "MATCH": _vote,
    "FSETP": lambda t, i, a: _decided(t, i, a, compare(i.flags[0], t.number(a[2]), t.number(a[3]))),
    "SEL": lambda t, _, a: t.put(a[0], t.word(a[1]) if t.holds(a[3]) else t.word(a[2])),
    "FSEL": lambda t, _, a: t.put(a[0], bits(t.number(a[1] if t.holds(a[3]) else a[2]))),
    "FCHK": lambda t, _, a: t.decide(a[0], False),
    "FRND": lambda t, _, a: t.put(a[0], bits(float(round(t.number(a[1]))))),
    "MOV": lambda t, _, a: t.put(a[0], t.word(a[1])),
    "R2UR": lambda t, _, a: t.put(a[-2], t.word(a[-1])),
    "REDUX": lambda t, _, a: t.put(a[0], t.word(a[1])),
    "POPC": lambda t, _, a: t.put(a[0], t.word(a[1]).bit_count()),
    "FLO": lambda t, _, a: t.put(a[0], t.word(a[1]).bit_length() - 1),
    "IABS": lambda t, _, a: t.put(a[0], abs(signed(t.word(a[1])))),
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "FMNMX"), _float),
    **dict.fromkeys(("HFMA2", "HADD2", "HMUL2"), _half),
    **dict.fromkeys(("HMNMX2", "VHMNMX"), _extreme_halves),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"), _double),
    **dict.fromkeys(("LDG", "LD", "LDS", "STG", "ST", "STS", "RED", "REDG", "ATOM", "ATOMG", "ATOMS"), _access),
}  # fmt: skip


def count(
    made: Function, arguments: bytes, grid: int, block: tuple[int, int], memory: Callable[[int, int], bytes]
) -> tuple[float, Sequence[Access]]:
    """The instructions that a whole launch issues, lanes counted one by one, and the accesses of a thread of it."""
    threads = block[0] * block[1]
    chosen = sorted({min(w * 32 + 1, threads - 1) for w in (0, threads // 64, (threads - 1) // 32)})
    ran = [Thread(made, arguments, (n, grid // 2, block, grid), memory, STEPS).run() for n in chosen]
    total = sum(sum(t.counts.values()) for t in ran) / len(ran)
    return total * grid * threads, ran[0].accesses
