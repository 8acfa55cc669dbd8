"""`opgen report`: pages that are well-formed, refer to nothing outside, and say what is so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from opgen.cli import run

SPECS = Path(__file__).parents[2] / "specs"
SHOWN = ("silu", "huber_loss", "softmax", "linear", "cross_entropy", "gated_recurrence", "bessel_j0", "embedding_bag")
VOID = {"meta"}
TIMES = [
    {
        "op": "silu", "dtype": "float32", "direction": "forward", "size": 1000, "elements": 1000, "threads": 1,
        "ratios": {"plain": {"median": 0.25, "low": 0.2, "high": 0.3}},
    },
    {
        "op": "silu", "dtype": "float32", "direction": "backward", "size": 900, "elements": 1024, "threads": 2,
        "ratios": {"plain": {"median": 1.5, "low": 0.0, "high": 1.75}},
    },
    {"op": "silu", "dtype": "float32", "direction": "both", "size": 32, "threads": 1, "ratios": {}},
]  # fmt: skip
OWN = re.compile(r"[a-z_0-9]+\.html")


class Page(HTMLParser):
    """Elements that are closed in order, and everything that is referred to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: dict[str, int] = {}
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "data", "srcset", "xlink:href", "action")]
        assert not any(k.startswith("on") for k, _ in attrs), attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("report")
    accuracy = folder / "measured.json"
    row = {"name": "silu", "of": "value", "cpp": {"ulp": 1.25}, "form": {"ulp": 2}, "torch": None}
    accuracy.write_text(json.dumps([row]))
    benchmarks = folder / "times.json"
    benchmarks.write_text(json.dumps({"rows": TIMES}))
    specs = [str(SPECS / f"{op}.yaml") for op in SHOWN]
    options = ["--accuracy", str(accuracy), "--benchmarks", str(benchmarks)]
    assert run(["report", *specs, "--to", str(folder / "out"), *options]) == 0
    return lambda op: (folder / "out" / f"{op}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("op", [*SHOWN, "index"])
def test_a_page_is_well_formed_and_alone(pages: Callable[[str], str], op: str) -> None:
    text = pages(op)
    page = Page(text)
    assert page.open == []
    assert {"script", "link", "img", "iframe", "object", "base"}.isdisjoint(page.seen)
    assert all(OWN.fullmatch(link) for link in page.links), page.links
    assert "url(" not in text
    assert "@import" not in text
    assert "http" not in re.sub(r"(?s)<pre>.*?</pre>", "", text)
    assert '<meta name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text


def test_the_index_leads_to_all(pages: Callable[[str], str]) -> None:
    assert sorted(Page(pages("index")).links) == sorted(f"{op}.html" for op in SHOWN)


def test_what_a_page_shows(pages: Callable[[str], str]) -> None:
    softmax, linear, loss = pages("softmax"), pages("linear"), pages("huber_loss")
    assert Page(softmax).seen["math"] >= 3
    assert Page(softmax).seen["svg"] == 2  # forward and backward
    assert "2 variants; shown: bias given." in linear
    assert "<td>weight</td><td>N · K</td><td>16.0\N{NO-BREAK SPACE}KiB</td><td>grad_input</td>" in linear
    assert "its size only" in softmax
    assert "<td>all steps</td><td>512\N{NO-BREAK SPACE}KiB</td><td>the least</td>" in softmax
    assert "<figcaption>csrc/softmax_kernels.cpp</figcaption>" in softmax
    assert "kinks at 0, 2" in loss  # error = 1 - target, delta = 1
    assert "in lanes" in softmax


def test_curves_and_measured_errors_are_shown_where_there_are_some(pages: Callable[[str], str]) -> None:
    assert Page(pages("silu")).seen["polyline"] == 3
    assert "polyline" not in Page(pages("linear")).seen
    assert "<td>value</td><td>1.25</td><td>2</td><td>—</td>" in pages("silu")
    assert "Accuracy" not in pages("linear")


def test_measured_times_are_bars(pages: Callable[[str], str]) -> None:
    text = pages("silu")
    for told in ("forward, float32, 1,000 elements, 1 thread", "backward, float32, 1,024 elements, 2 threads"):
        assert f">{told}<" in text
    assert re.findall(r'class="(faster|slower)"', text) == ["faster", "slower"]
    assert ">0.25<" in text
    assert "Benchmarks" not in pages("softmax")


@pytest.mark.parametrize("content", ["[]", '{"rows": [{"op": "a"}]}', "no JSON", '{"rows": [{"ratios": 1}]}'])
def test_a_file_without_measured_times_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (tmp_path / "times.json").write_text(content)
    options = ["--to", str(tmp_path / "out"), "--benchmarks", str(tmp_path / "times.json")]
    assert run(["report", str(SPECS / "silu.yaml"), *options]) == 1
    assert "OPG501" in capsys.readouterr().err


def test_pages_do_not_depend_on_when_they_are_made(pages: Callable[[str], str], tmp_path: Path) -> None:
    assert run(["report", str(SPECS / "softmax.yaml"), "--to", str(tmp_path)]) == 0
    assert (tmp_path / "softmax.html").read_text(encoding="utf-8") == pages("softmax")


def test_text_of_a_spec_is_text(tmp_path: Path) -> None:
    spec = tmp_path / "marked.yaml"
    summary = "<script>alert(1)</script> & <b>"
    spec.write_text(f'op: marked\nsummary: "{summary}"\ninputs: [x]\nforward: y = where(x < 1, x, 1)\n')
    assert run(["report", str(spec), "--to", str(tmp_path / "out")]) == 0
    page = Page((tmp_path / "out/marked.html").read_text(encoding="utf-8"))
    assert "script" not in page.seen
    assert summary in "".join(page.text)


def test_a_mistake_is_told_and_the_others_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "right.yaml").write_text("op: right\ninputs: [x]\nforward: y = x*x\n")
    (tmp_path / "wrong.yaml").write_text("op: wrong\ninputs: [x]\nforward: y = x +\n")
    assert run(["report", str(tmp_path), "--to", str(tmp_path / "out")]) == 1
    assert "error[OPG" in capsys.readouterr().err
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["index.html", "right.html"]


@pytest.mark.thorough
@pytest.mark.parametrize("spec", sorted(SPECS.rglob("*.yaml")), ids=lambda p: p.stem)
def test_every_operator_has_a_page(spec: Path, tmp_path: Path) -> None:
    assert run(["report", str(spec), "--to", str(tmp_path)]) == 0
    assert Page((tmp_path / f"{spec.stem}.html").read_text(encoding="utf-8")).open == []
