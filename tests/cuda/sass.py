"""Machine code of a CUDA kernel, run thread by thread in Python, to count what a thread issues.

In goes the text of `nvdisasm -c`, out come the functions of it; a `Thread` runs one of them. Integers, predicates and
addresses are exact, so loops have their real lengths; floats are near enough to decide branches. Loads give what
`memory` says stands at an address. Other lanes of a warp are taken to hold what this one does.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

WORD = 0xFFFFFFFF
LONG = 0xFFFFFFFFFFFFFFFF
_PARAMETERS = {"sm_90": 0x210, "sm_80": 0x160}  # where the arguments of a kernel stand among its constants
_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+),")
_LABEL = re.compile(r"(\.L_\S+|\$\S+):\s*$")
_LINE = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(?:@(!?)(U?P\w+)\s+)?(\S+)\s*(.*?)\s*;?\s*$")
_TARGET = re.compile(r"`\((\.L_\S+?|\$\S+?)\)")
_IGNORED = frozenset(
    [
        "NOP",
        "BSSY",
        "BSYNC",
        "YIELD",
        "WARPSYNC",
        "ENDCOLLECTIVE",
        "BREAK",
        "DEPBAR",
        "MEMBAR",
        "ERRBAR",
        "CCTL",
        "BAR",
        "LEPC",
    ]
)
_BYTES = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str
    flags: tuple[str, ...]
    args: tuple[str, ...]
    guard: str = ""  # a predicate, with `!` for its opposite
    target: str = ""


@dataclass(slots=True)
class Function:
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


Step = Callable[["Thread", Instruction, list[str]], None]


@dataclass(frozen=True, slots=True)
class Access:
    name: str
    address: int
    bytes: int


def functions(text: str) -> dict[str, Function]:
    """The functions of a disassembled file by their mangled names."""
    found: dict[str, Function] = {}
    current: Function | None = None
    for line in text.splitlines():
        if section := _SECTION.match(line):
            current = found.setdefault(section[1], Function())
        elif current is not None and (label := _LABEL.match(line)):
            current.labels[label[1]] = len(current.code)
        elif current is not None and (made := _LINE.match(line)):
            name, *flags = made[3].split(".")
            target = _TARGET.search(made[4])
            args = tuple(a.replace(".reuse", "").strip() for a in _split(made[4]))
            guard = (made[1] or "") + (made[2] or "")
            current.code.append(Instruction(name, tuple(flags), args, guard, target[1] if target else ""))
    return found


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p for p in parts if p.strip()]


def bits(x: float) -> int:
    """A float as the bits of float32."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", x))[0])
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def real(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word & WORD))[0])


def signed(x: int, width: int = 32) -> int:
    x &= (1 << width) - 1
    return x - (1 << width) if x >> (width - 1) else x


class Thread:
    """One thread of a launch; `run` fills `counts` and `accesses`."""

    def __init__(
        self, made: Function, arguments: bytes, place: tuple[int, int, tuple[int, int], int],
        memory: Callable[[int, int], bytes], steps: Mapping[str, Step], architecture: str = "sm_90",
    ) -> None:  # fmt: skip
        self.made, self.memory, self.steps = made, memory, steps
        thread, self.block, (width, height), grid = place
        self.thread, self.behind = thread % width, thread // width
        self.registers: dict[str, int] = {}
        self.predicates: dict[str, bool] = {}
        self.constants = bytearray(0x4000)
        start = _PARAMETERS[architecture]
        self.constants[start : start + len(arguments)] = arguments
        struct.pack_into("<II", self.constants, 0x0, width, height)
        struct.pack_into("<I", self.constants, 0xC, grid)
        self.stored: dict[tuple[bool, int], int] = {}  # bytes, by whether they are shared
        self.counts: Counter[str] = Counter()
        self.accesses: list[Access] = []
        self.returns: list[int] = []

    def run(self, limit: int = 4_000_000) -> Thread:
        at = 0
        for _ in range(limit):
            i = self.made.code[at]
            self.counts[i.name] += 1
            at += 1
            if i.guard and not self.holds(i.guard):
                continue
            if i.name == "EXIT":
                return self
            if i.name == "BRA" and "DIV" not in i.flags and all(self.holds(a) for a in i.args[:-1]):
                at = self.made.labels[i.target]
            elif i.name == "CALL":
                assert "ABS" not in i.flags, "an assertion failed in a kernel"
                self.returns.append(at)
                at = self.made.labels[i.target]
            elif i.name == "RET":
                at = self.returns.pop()
            elif i.name not in ("BRA", *_IGNORED):
                self.step(i)
        raise AssertionError("a kernel does not end")

    # --- operands ---------------------------------------------------------------------------------------------------

    def holds(self, text: str) -> bool:
        name = text.lstrip("!")
        value = True if name in ("PT", "UPT") else self.predicates.get(name, False)
        return value is not text.startswith("!")

    def decide(self, name: str, value: bool) -> None:
        if name not in ("PT", "UPT"):
            self.predicates[name] = value

    def word(self, text: str, high: int = 0) -> int:
        """The bits of an operand, of the register behind it if `high`."""
        sign = text[0]
        if sign in "-~" and not text[1].isdigit():
            value = self.word(text[1:], high)
            return (-value if sign == "-" else ~value) & WORD
        if sign == "|":
            return abs(signed(self.word(text[1:-1], high))) & WORD
        if text in ("RZ", "URZ", "SRZ"):
            return 0
        if text.startswith("c["):
            return self.constant(text, high)
        if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text):
            return (int(text, 0) >> 32 * high) & WORD
        name, _, part = text.partition(".")
        prefix, number = (name[:2], name[2:]) if name.startswith("UR") else (name[:1], name[1:])
        value = self.registers.get(f"{prefix}{int(number) + high}", 0)
        return value if not part.startswith("H") else value >> (16 if part.startswith("H1") else 0) & 0xFFFF

    def constant(self, text: str, high: int) -> int:
        bank, place = re.findall(r"\[([^\]]*)\]", text)
        if bank != "0x0":
            return 0
        offset = sum(self.word(p) for p in place.split("+"))
        return int(struct.unpack_from("<I", self.constants, offset + 4 * high)[0])

    def long(self, text: str) -> int:
        if text.startswith("-") and not text[1].isdigit():
            return -self.long(text[1:]) & LONG
        return self.word(text) | self.word(text, 1) << 32

    def number(self, text: str) -> float:
        """A float operand."""
        if text.startswith("-") and not text[1].isdigit():
            return -self.number(text[1:])
        if text.startswith("|"):
            return abs(self.number(text[1:-1]))
        if re.fullmatch(r"[+-]?(INF|QNAN)( .*)?", text):
            return float(text.partition(" ")[0].replace("QNAN", "nan"))
        if re.fullmatch(r"[+-]?\d[\d.]*(e[+-]?\d+)?", text):
            return float(text)
        return real(self.word(text))

    def put(self, name: str, value: int, high: int = 0) -> None:
        if name not in ("RZ", "URZ"):
            prefix = "UR" if name.startswith("UR") else "R"
            self.registers[f"{prefix}{int(name[len(prefix) :].partition('.')[0]) + high}"] = value & WORD

    def put_long(self, name: str, value: int) -> None:
        self.put(name, value)
        self.put(name, value >> 32, 1)

    # --- instructions -----------------------------------------------------------------------------------------------

    def step(self, i: Instruction) -> None:
        name = i.name[1:] if i.name[0] == "U" and i.name[1:] in self.steps else i.name
        assert name in self.steps, f"nobody knows what {name} does"
        self.steps[name](self, i, list(i.args))

    def address(self, text: str) -> int:
        total = 0
        for part in re.search(r"\[([^\[\]]*)\]$", text)[1].replace("+-", "+0x0-").split("+"):  # type: ignore[index]
            plain, _, less = part.partition("-")
            name, _, kind = plain.partition(".")
            total += self.long(name) if kind == "64" else self.word(name) * int(kind[1:] if kind[:1] == "X" else 1)
            total -= int(less, 16) if less else 0
        return total & LONG

    def access(self, i: Instruction, args: list[str]) -> None:
        size = next((n for f, n in _BYTES.items() if f in i.flags), 4)
        shared = i.name in ("LDS", "STS", "ATOMS")
        place = next(a for a in args if "[" in a and not a.startswith("c["))
        at = self.address(place)
        self.accesses.append(Access(".".join((i.name, *i.flags)), at, size))
        rest = [a for a in args if a is not place and a.startswith("R")]
        if i.name in ("LDG", "LD", "LDS"):
            known = bytes(self.stored.get((shared, at + k), b) for k, b in enumerate(self.memory(at, size)))
            for k in range(0, size, 4):
                self.put(rest[0], int.from_bytes(known[k : k + 4], "little"), k // 4)
        elif i.name in ("STG", "ST", "STS"):
            for k in range(size):
                self.stored[shared, at + k] = self.word(rest[-1], k // 4) >> 8 * (k % 4) & 0xFF
        elif rest and i.name not in ("RED", "REDG"):
            self.put(rest[0], self.word(rest[1]) if "CAS" in i.flags else 0)
