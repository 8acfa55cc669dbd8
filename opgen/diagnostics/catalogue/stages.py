"""3xx to 6xx: differentiation, planning, files and toolchain."""

from __future__ import annotations

from opgen.diagnostics.catalogue.row import Code

ROWS = (
    Code(
        "OPG301",
        "No derivative",
        "A gradient is asked for through a function that has none; state one, or use `detach`.",
    ),
    Code(
        "OPG302",
        "Stated derivatives do not fit",
        "A function with several arguments states a derivative for each of them.",
    ),
    Code(
        "OPG303",
        "Nothing to differentiate",
        "No output depends differentiably on the input whose gradient is asked for.",
    ),
    Code(
        "OPG401",
        "No kernel for this statement",
        "The planner has no compiled form; the operator still runs in pure torch.",
    ),
    Code("OPG501", "File cannot be read", "The spec does not exist, is not a file, or may not be read."),
    Code("OPG502", "File is not UTF-8", "Specs are UTF-8 text."),
    Code("OPG503", "File is not ours to overwrite", "The output exists and was not generated, or was changed by hand."),
    Code("OPG504", "Path leaves the output folder", "Generated files stay inside of the folder given with `--out`."),
    Code("OPG505", "Two specs for one operator", "Two spec files of one run give the same `op`."),
    Code("OPG506", "File cannot be written", "The output folder or a file in it may not be written."),
    Code("OPG507", "No specs found", "The path holds no `.yaml` file."),
    Code("OPG601", "No compiler", "A compiled library is asked for and no suitable compiler was found."),
    Code(
        "OPG602",
        "Compilation failed",
        "The compiler refused generated code; this is a bug of opgen, so please report it.",
    ),
    Code("OPG603", "Library out of date", "The compiled library was built from other sources than the generated ones."),
    Code("OPG604", "PyTorch is missing or too old", "The step needs PyTorch 2.11 or later."),
)
