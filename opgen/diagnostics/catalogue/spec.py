"""1xx: YAML and the fields of a spec."""

from __future__ import annotations

from opgen.diagnostics.catalogue.row import Code

ROWS = (
    Code(
        "OPG101",
        "YAML syntax",
        "The file is not well-formed YAML. A common cause is a formula that needs quotes: one inside { } or [ ],"
        " or one with `: ` or ` #` in it.",
        "inputs: {x: {shape: [..., K}}\nforward: y = exp(x)",
        "inputs: {x: {shape: [..., K]}}\nforward: y[..., k] = exp(x[..., k])",
    ),
    Code(
        "OPG102",
        "Key given twice",
        "A mapping holds each key once; YAML readers that accept repeats silently drop one of the values.",
        "op: scale\nop: shift\ninputs: [x]\nforward: y = 2*x",
        "op: scale\ninputs: [x]\nforward: y = 2*x",
    ),
    Code(
        "OPG103",
        "Tab in indentation",
        "YAML indents with blanks only.",
        "inputs:\n\tx: {shape: [K]}\nforward: y[k] = exp(x[k])",
        "inputs:\n  x: {shape: [K]}\nforward: y[k] = exp(x[k])",
    ),
    Code(
        "OPG104",
        "YAML feature that specs do not use",
        "Specs use plain mappings, lists, scalars, and anchors that are defined before use. Tags, several"
        " documents in one file, and keys that are not words are refused.",
        "op: !!python/name:os.system ''\ninputs: [x]\nforward: y = exp(x)",
        "op: example\ninputs: [x]\nforward: y = exp(x)",
    ),
    Code(
        "OPG105",
        "Formula in a folded block",
        "A `>` block joins its lines, so statements would run together and no place in the formula could be"
        " shown. A `|` block keeps the lines.",
        "forward: >\n  y = exp(x)",
        "forward: |\n  y = exp(x)",
        given="inputs: [x]",
    ),
    Code(
        "OPG106",
        "Formula needs quotes",
        "Inside { } and [ ] a comma ends a value, whatever parentheses stand around it.",
        "functions: {step(x): {value: where(x > 0, 1, 0)}}\nforward: y = step(x)",
        'functions: {step(t): {value: "where(t > 0, 1, 0)"}}\nforward: y = step(x)',
        given="inputs: [x]",
    ),
    Code(
        "OPG107",
        "Character that cannot stand in a spec",
        "Control characters and lone surrogates are not text.",
        "summary: a\x07b\nforward: y = exp(x)",
        "summary: a b\nforward: y = exp(x)",
        given="inputs: [x]",
    ),
    Code(
        "OPG108",
        "Document too large or too deep",
        "A spec is short; the limits guard against files made to harm.",
        "description: [[[[…]]]]  # hundreds of levels\nforward: y = exp(x)",
        "description: a few lines\nforward: y = exp(x)",
        given="inputs: [x]",
    ),
    Code(
        "OPG110",
        "Unknown field",
        "Every field is known, so that a misspelt one is never silently without effect.",
        "inputs: {x: {optinal: true}}",
        "inputs: {x: {optional: true}}",
        given="forward: y = 2*x",
    ),
    Code(
        "OPG111",
        "Missing field",
        "A field without a default is not given.",
        "op: relu\ninputs: [x]",
        "op: relu\ninputs: [x]\nforward: y = max(x, 0)",
    ),
    Code(
        "OPG112",
        "Wrong type of value",
        "The field takes another kind of value.",
        "exact: maybe",
        "exact: true",
        given="inputs: [x]\nforward: y = exp(x)",
    ),
    Code(
        "OPG113",
        "Bad name",
        "Operators, tensors, params and functions are snake_case, dims begin with a capital, module classes are"
        " CamelCase; keywords of Python cannot be names.",
        "op: MyOp\ninputs: [x]\nforward: y = exp(x)",
        "op: my_op\ninputs: [x]\nforward: y = exp(x)",
    ),
    Code(
        "OPG114",
        "Not one of the choices",
        "The field or param takes one of a few words.",
        "inputs: {x: {dtype: flaot}}",
        "inputs: {x: {dtype: float}}",
        given="forward: y = 2*x",
    ),
    Code(
        "OPG115",
        "Name used twice",
        "Inputs, params and functions share one space of names.",
        "inputs: [x, x]\nforward: y = x",
        "inputs: [x, z]\nforward: y = x + z",
    ),
    Code(
        "OPG116",
        "Name that refers to nothing",
        "The field names an input, param or dim that is not declared.",
        "inputs: [x]\nmodule: {parameters: {w: ones}}\nforward: y = x",
        "inputs: {x: {shape: [..., K]}, w: {shape: [K]}}\nmodule: {parameters: {w: ones}}\nforward: y[..., k] ="
        " w[k]*x[..., k]",
    ),
    Code(
        "OPG117",
        "Contradicting fields",
        "Two fields of an entry exclude each other, or one has no effect without the other.",
        "inputs: {x: {absent: 1}}",
        "inputs: {x: {optional: true, absent: 1}}",
        given="forward: y = 2*x",
    ),
    Code(
        "OPG119",
        "Default that does not fit",
        "The default value is not of the param's type, or not among its choices.",
        "params: {size: {type: int, default: 0.5}}",
        "params: {size: {type: int, default: 2}}",
        given="inputs: [x]\nforward: y = x*size",
    ),
    Code(
        "OPG120",
        "Test case that does not fit",
        "The value is not of the dtype, shape, type or choices of what it is given to, or two sizes contradict.",
        "tests: {cases: [{x: [[1, 2], [3]]}]}",
        "tests: {cases: [{x: [[1, 2], [3, 4]]}]}",
        given="inputs: [x]\nforward: y = 2*x",
    ),
    Code(
        "OPG121",
        "Not an initialiser",
        "`module.parameters` and `module.buffers` take a function of `torch.nn.init` without its tensor and underscore,"
        " such as `normal(std=0.02)`. Arguments are numbers: expressions of the sizes and params of the module.",
        "module: {parameters: {w: nrmal(std=0.02)}}",
        "module: {dims: {K: features}, parameters: {w: normal(std=1/sqrt(K))}}",
        given="inputs: {x: {shape: [..., K]}, w: {shape: [K]}}\nforward: y[..., k] = w[k]*x[..., k]",
    ),
    Code(
        "OPG122",
        "No such callable",
        "A reference, or a callable of another library, is looked up by `opgen lint`; the generated tests call it,"
        " a reference with the inputs, and with the params by name.",
        "reference: torch.nn.functional.sigmiod",
        "reference: torch.nn.functional.sigmoid",
        given="inputs: [x]\nforward: y = sigmoid(x)",
    ),
    Code(
        "OPG123",
        "Buffer or input and what overwrites it",
        "`module.updates` maps a buffer to the output that it is overwritten with in training: one of the same shape,"
        " of a kind that the buffer holds. These outputs are not returned, so that there is another one. What `inplace`"
        " names is overwritten with the one result, which fits it in the same way.",
        "module: {buffers: {total: zeros}, updates: {total: next_total}}\n"
        "forward: |\n  y[..., k] = x[..., k] - total[k]\n"
        "  next_total[...] = sum[k](x[..., k])",
        "module: {buffers: {total: zeros}, updates: {total: next_total}}\n"
        "forward: |\n  y[..., k] = x[..., k] - total[k]\n"
        "  next_total[k] = total[k] + sum[...](x[..., k])",
        given="inputs: {x: {shape: [..., K]}, total: {shape: [K]}}",
    ),
)
