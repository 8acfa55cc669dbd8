"""4xx to 7xx: planning, files, toolchain, and opgen itself."""

from __future__ import annotations

from opgen.diagnostics.catalogue.row import Code

ROWS = (
    Code(
        "OPG401",
        "No kernels to compile",
        "The operator calls functions that only torch or NumPy have, the planner has no compiled form for a statement,"
        " or its kernels would be longer than 256 KiB, which takes compilers minutes: then fewer variants help, or"
        " parts as operators of their own. It runs in plain torch, and its tests do too.",
        "opgen compile package_function  # forward: {torch: package.function}",
        "opgen test package_function",
    ),
    Code(
        "OPG402",
        "Nothing to test with",
        "Generated tests call an operator with sizes and values that are tried one after the other, until its formulas"
        " read nothing that is not there. Where none of them fits a variant, nothing tests it, and a case under `tests`"
        " that is no call is left out. A warning; the spec builds all the same.",
        "forward: 'y = x[N - 20]'",
        "forward: 'y = x[N - 20]', with tests: {sizes: {N: 24}}",
    ),
    Code(
        "OPG403",
        "More arguments than torch takes",
        "An operator of torch has 64 arguments at most. opgen makes several of one: its `.out` takes inputs, params and"
        " outputs, its gradient the gradients of outputs, what is kept for it, params and a mask, and their forms for"
        " `torch.vmap` one more. A complex tensor counts as two. Nothing is written for a spec of which one would take"
        " more.",
        "inputs: [x1, x2, x3, x4]  # and so on, to x64",
        "inputs: {x: {shape: [64, ...]}}",
    ),
    Code(
        "OPG501",
        "File cannot be read",
        "The spec does not exist, is not a file, or may not be read.",
        "opgen build spec/scale.yaml",
        "opgen build specs/scale.yaml",
    ),
    Code(
        "OPG502",
        "File is not UTF-8",
        "Specs are UTF-8 text.",
        "a spec saved as Latin-1 or UTF-16",
        "the same spec saved as UTF-8",
    ),
    Code(
        "OPG503",
        "File is not ours to overwrite",
        "The output exists and was not generated, or was changed by hand.",
        "a change made in generated/scale/function.py",
        "the same change made in specs/scale.yaml",
    ),
    Code(
        "OPG504",
        "Path leaves the output folder",
        "Generated files stay inside of the folder given with `--out`.",
        "generated/scale is a symbolic link to another folder",
        "opgen build --out other/folder",
    ),
    Code(
        "OPG505",
        "Two specs for one operator",
        "Two spec files of one run give the same `op`, or one gives the name of the other's gradient, which is that of"
        " the operator with `_backward` behind it.",
        "a.yaml has `op: scale`, and b.yaml too",
        "a.yaml has `op: scale`, and b.yaml `op: shift`",
    ),
    Code(
        "OPG506",
        "File cannot be written",
        "The output folder or a file in it may not be written.",
        "opgen build --out /usr/lib",
        "opgen build --out generated",
    ),
    Code(
        "OPG507",
        "No specs found",
        "The path holds no `.yaml` file.",
        "opgen build docs",
        "opgen build specs",
    ),
    Code(
        "OPG508",
        "Setting that cannot be used",
        "The table `[tool.opgen]` of `pyproject.toml` has the keys `specs` (a file or folder, or a list of them), `out`"
        " (a folder), `namespace` and `jobs` (a number), and no other; paths are relative to that file. The output"
        " folder is a package, so that its name is one that Python imports: `my_ops`, not `my-ops`. Such keys in a"
        " table of another name, `[opgen]` or `[tools.opgen]`, would be read by nobody. A namespace is"
        " what stands between `torch.ops` and the names of the operators: letters, digits and `_`, and none that torch"
        " or a library beside it has taken, such as `aten`.",
        '[tool.opgen]\nnamspace = "mylib"',
        '[tool.opgen]\nnamespace = "mylib"',
    ),
    Code(
        "OPG509",
        "Two namespaces in one folder",
        "All operators of an output folder are registered with torch in one namespace, which the code that they share"
        " names too. A new namespace therefore needs all of them generated in one run.",
        "opgen build specs/scale.yaml --namespace mylib  # of several operators",
        "opgen build specs --namespace mylib",
    ),
    Code(
        "OPG510",
        "No such pass",
        "`opgen show --pass` prints the program and its gradient before and after a pass. The message lists the passes"
        " that run over the programs of the spec.",
        "opgen show specs/scale.yaml --pass simplify",
        "opgen show specs/scale.yaml --pass tidy",
    ),
    Code(
        "OPG511",
        "Operators that are not ready to be shipped",
        "A wheel holds what the specs of the project give now. Files that were generated earlier, were edited by hand"
        " or are missing would make it something else; `opgen build --check` names them all.",
        "edit specs/scale.yaml && opgen package",
        "edit specs/scale.yaml && opgen build && opgen package",
    ),
    Code(
        "OPG512",
        "Wheel that cannot be named",
        "A wheel has a name, a version (1.0, 2.1.3rc1, 0.3.dev1) and a package that is imported. The first two stand in"
        " `[project]` of `pyproject.toml` or are given; the package is imported as it is in the project,"
        " `mylib.ops` for `src/mylib/ops`, or as `--import-name` says. Operators inside of a package with code of its"
        " own are shipped by the wheel of that package, for which there is a build hook.",
        "opgen package --version next",
        "opgen package --version 1.1.0",
    ),
    Code(
        "OPG601",
        "No compiler",
        "A compiled library is asked for and no suitable compiler was found.",
        "CXX=no-such-compiler opgen compile",
        "apt install g++ && opgen compile",
    ),
    Code(
        "OPG602",
        "Compilation failed",
        "The compiler refused generated code. Where a function of another library is named under `extern`, its C++ name"
        " may be wrong. Otherwise it is a bug of opgen, so please report it, or the compiler is too old: C++17 is"
        " needed, and nvcc of the CUDA release that torch was built for.",
        "opgen compile  # with a compiler that knows no C++17",
        "CXX=g++-12 opgen compile",
    ),
    Code(
        "OPG701",
        "Internal error",
        "opgen itself has a mistake, and the spec named in the message came upon it; what is right in other specs is"
        " built all the same. The command line writes a report with the versions, the command, the spec and the place"
        " in opgen into a file of its own, and names that file. `opgen --traceback …` shows the place at once.",
        "opgen build specs  # and leave it at that",
        "opgen build specs  # and send the report to those who maintain opgen",
    ),
)
