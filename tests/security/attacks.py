"""Specs that try to run code, to break out of a text into the code around it, or to write elsewhere.

`INERT` texts may stand anywhere a spec has prose; what they are put into is in `PLACES`. `REFUSED` specs are whole.
No attack may leave a trace in generated code outside of comments and strings, nor a file called `pwned`.
"""

from __future__ import annotations

CALL = "__import__('pathlib').Path('pwned').touch()"

INERT = {
    "double docstring end": '"""\n' + CALL + '\n"""',
    "single docstring end": "'''\n" + CALL + "\n'''",
    "escaped docstring end": '\\"""\n' + CALL + "\n#",
    "quote at the end": 'text ending in a quote"' + f"; {CALL}",
    "backslash at the end": f"{CALL} \\",
    "odd backslashes": f'\\\\\\" + {CALL} + \\"',
    "comment end": "*/ int pwned = system(0); /*",
    "line continuation in a C++ comment": "harmless \\\nint pwned = 1;",
    "trigraph": "harmless ??/\nint pwned = 1;",
    "include": '\n#include "pwned.h"\n#define main pwned\n',
    "raw string end": ')" ; int pwned; R"(',
    "template expression": "{{ pwned }}{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "template statement": "{% raw %}{% include 'pwned' %}{% for x in y %}",
    "template comment": "{# pwned #} {#",
    "format string": "{pwned.__globals__} %(pwned)s %n%n%n $(pwned) `pwned`",
    "unicode line end": f"a\u2028{CALL}\u2029b\x85c",
    "form feed": f"a\x0c{CALL}",
    "right-to-left": "\u202epwned\u2066",
    "yaml document": "\n---\nop: pwned\n",
    "html": "<script>pwned()</script> & <!-- -->",
    "markdown": "| pwned | `x` |\n```\npwned\n```\n# pwned",
    "type comment": "# type: ignore # noqa # pwned",
    "coding": "-*- coding: utf-7 -*- +AF8AXw-import+AF8AXw- pwned",
    "ends of everything": "\"\"\" ''' */ -->  )}];\\ pwned",
    "pragma": 'clang-format off\n_Pragma("pwned")',
}

PLACES = {
    "summary": "op: victim\nsummary: {text}\ninputs: [x]\nforward: y = 2*x\n",
    "description": "op: victim\ndescription: {text}\ninputs: [x]\nforward: y = 2*x\n",
    "doc of an input": "op: victim\ninputs: {{x: {{doc: {text}}}}}\nforward: y = 2*x\n",
    "doc of an output": "op: victim\ninputs: [x]\noutputs: {{y: {{doc: {text}}}}}\nforward: y = 2*x\n",
    "doc of a param": "op: victim\ninputs: [x]\nparams: {{a: {{type: float, default: 1.0, doc: {text}}}}}\n"
    "forward: y = a*x\n",
    "doc of the module": "op: victim\ninputs: [x]\nmodule: {{doc: {text}}}\nforward: y = 2*x\n",
}

_OP = "op: victim\ninputs: [x]\n"

REFUSED = {
    "call in a formula": _OP + f"forward: y = {CALL}\n",
    "import in a formula": _OP + "forward: y = x + __import__('os').system('touch pwned')\n",
    "attribute in a formula": _OP + "forward: y = x.__class__.pwned\n",
    "lambda in a formula": _OP + "forward: 'y = (lambda: pwned)()*x'\n",
    "string in a formula": _OP + "forward: y = x*eval('pwned')\n",
    "walrus in a formula": _OP + "forward: 'y = (pwned := x)'\n",
    "semicolon in a formula": _OP + "forward: y = x; pwned = 1\n",
    "template in a formula": _OP + "forward: 'y = {{ pwned }}*x'\n",
    "dunder name": "op: victim\ninputs: [__import__]\nforward: y = __import__('pwned')\n",
    "op name with a path": "op: ../pwned\ninputs: [x]\nforward: y = x\n",
    "absolute op name": "op: /pwned\ninputs: [x]\nforward: y = x\n",
    "op name with a drive": 'op: "c:pwned"\ninputs: [x]\nforward: y = x\n',
    "op name with a line end": 'op: "a\\npwned"\ninputs: [x]\nforward: y = x\n',
    "op name with code": 'op: "a():pwned"\ninputs: [x]\nforward: y = x\n',
    "op name of the runtime": "op: _runtime\ninputs: [x]\nforward: pwned = x\n",
    "op name that is a keyword": "op: import\ninputs: [x]\nforward: pwned = x\n",
    "op name with a dot": "op: os.pwned\ninputs: [x]\nforward: y = x\n",
    "op name with NUL": 'op: "a\\0pwned"\ninputs: [x]\nforward: y = x\n',
    "input name with code": 'op: victim\ninputs: ["x, y=pwned"]\nforward: y = 1\n',
    "output name with code": _OP + 'outputs: ["y; pwned"]\nforward: y = x\n',
    "param name with code": _OP + 'params: {"a=pwned": {type: float}}\nforward: y = x\n',
    "dim with code": 'op: victim\ninputs: {x: {shape: ["N; pwned"]}}\nforward: y[i] = x[i]\n',
    "derived dim with code": 'op: victim\ninputs: {x: {shape: [N]}}\ndims: {M: "system(pwned)"}\n'
    "outputs: {y: {shape: [M]}}\nforward: y[i] = x[i]\n",
    "default with code": _OP + f'params: {{a: {{type: float, default: "{CALL}"}}}}\nforward: y = a*x\n',
    "absent with code": 'op: victim\ninputs: {x: {}, b: {optional: true, absent: "pwned()"}}\nforward: y = x + b\n',
    "domain with code": _OP + 'params: {a: {type: float, default: 1.0, domain: "a > pwned()"}}\nforward: y = a*x\n',
    "choice with code": _OP + "params: {a: {choices: [none, \"'); pwned('\"], default: none}}\nforward: y = x\n",
    "reference with a call": _OP + f'reference: "{CALL}"\nforward: y = x\n',
    "reference with a path": _OP + "reference: ../pwned.py\nforward: y = x\n",
    "reference with a semicolon": _OP + 'reference: "torch.abs; import pwned"\nforward: y = x\n',
    "initialiser with code": "op: victim\ninputs: {x: {shape: [..., K]}, w: {shape: [K]}}\n"
    'module: {parameters: {w: "normal_; pwned()"}}\nforward: y[..., k] = x[..., k]*w[k]\n',
    "initialiser elsewhere": "op: victim\ninputs: {x: {shape: [..., K]}, w: {shape: [K]}}\n"
    "module: {parameters: {w: __builtins__.pwned}}\nforward: y[..., k] = x[..., k]*w[k]\n",
    "module name with code": _OP + 'module: {name: "A(pwned)"}\nforward: y = x\n',
    "module name with a path": _OP + "module: {name: ../Pwned}\nforward: y = x\n",
    "extern torch with code": _OP + 'functions: {"f(x)": {extern: {torch: "torch.abs; pwned()"}, derivative: "1"}}\n'
    "forward: y = f(x)\n",
    "extern C++ with code": _OP + 'functions: {"f(x)": {extern: {torch: torch.abs, cpp: "f(0); system(pwned); g"},'
    ' derivative: "1"}}\nforward: y = f(x)\n',
    "extern C++ with an include": _OP
    + 'functions: {"f(x)": {extern: {torch: torch.abs, cpp: "abs\\n#include <pwned>\\n"},'
    ' derivative: "1"}}\nforward: y = f(x)\n',
    "extern callable with code": _OP + 'outputs: {y: {shape: [...]}}\nforward: {torch: "os.system(pwned)"}\n'
    'backward: {torch: "a.b"}\n',
    "yaml object": "op: !!python/object/apply:os.system [touch pwned]\ninputs: [x]\nforward: y = x\n",
    "yaml name": _OP + "reference: !!python/name:os.pwned\nforward: y = x\n",
    "yaml merge": _OP + "<<: {forward: pwned = x}\n",
    "yaml bomb": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nop: pwned\n",
    "yaml recursion": "op: &a [*a, pwned]\n",
    "two documents": _OP + "forward: y = x\n---\nop: pwned\n",
    "same key twice": _OP + "forward: y = x\nforward: pwned = x\n",
    "tests with code": _OP + 'forward: y = x\ntests: {sizes: {"K[pwned()]": 3}}\n',
    "case with code": _OP + "forward: y = x\ntests: {cases: [{x: \"open('pwned')\"}]}\n",
    "in-place name with code": _OP + 'forward: y = x\ninplace: "x); pwned("\n',
    "saved name with code": _OP + 'forward: y = x\nsave: ["x; pwned"]\n',
    "deep formula": _OP + "forward: y = " + "(" * 20000 + "pwned" + ")" * 20000 + "\n",
    "huge power": _OP + "forward: y = x + pwned**9**9**9**9\n",
    "blanks within a formula": _OP + "forward: 'y = x" + " " * 100000 + "pwned'\n",
    "fractions that do not end": _OP + "forward: 'y = " + r"\frac{" * 20000 + "pwned'\n",
    "backslashes": _OP + "forward: 'y = " + "\\" * 50000 + "pwned'\n",
    "marks of a matrix that is turned": _OP + "forward: |\n  y = x" + "'" * 100000 + "pwned\n",
    "semicolons": _OP + "forward: 'y = x" + "; " * 50000 + "pwned'\n",
    "huge number": _OP + "forward: y = x*" + "9" * 100000 + "*pwned\n",
}
