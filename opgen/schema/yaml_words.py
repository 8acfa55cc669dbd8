"""What a YAML reader says about a syntax error, in the words of someone who writes a spec.

The table knows the messages of libyaml and of PyYAML's own reader; any other message is passed on as it is.
"""

from __future__ import annotations

import re

LIST_OF_TYPES = "a list says the type of each element: `type: [float, float]`"

_FLOW = "a formula with any of `, [ ] { } : #` in it needs quotes inside of { } and [ ]"
_BLOCK = "a formula or a text with `: ` or ` #` in it needs quotes or a `|` block"
_INDENT = "a formula with `: ` or ` #` in it needs quotes; the lines of a `|` block are indented"
_LINES = "check its indentation; several statements need a `|` block"
_QUOTES = "put quotes around the value"
_BEGUN = "its text stands on the lines below, indented: one line needs no `|`, `forward: y = 2*x`"
_STAR = "any number of batch dims is written `...`; for other values put quotes around them"
_ESCAPE = "in double quotes a backslash is written twice; single quotes take it as it is"

# pattern in the reader's message, our message, what to do
_PROBLEMS = (
    (r"expected ',' or '([\]}])'", r"expected `,` or `\1` here", _FLOW),
    (r"did not find expected key|expected <block end>", "this line does not fit the lines above it", _LINES),
    (r"block sequence entries are not allowed", "a list cannot begin here", _QUOTES),
    (r"mapping values are not allowed", "a `:` cannot stand here", _BLOCK),
    (r"could not find expected ':'", "a `:` is missing on this line", _INDENT),
    (r"cannot start any token", "a value cannot begin with this character", _QUOTES),
    (r"expected (the )?node content", "a value is missing here", _FLOW),
    (r"chomping or indentation|comment or (a )?line break", "`>` and `|` begin a block of text", _BEGUN),
    (r"unexpected ':'", "a `:` cannot stand here", "a colon is followed by a space: `shape: [N, K]`"),
    (r"unexpected end of stream", "the quoted text is not closed", "add the closing quote"),
    (r"unknown escape character|expected escape sequence", "unknown escape in double quotes", _ESCAPE),
    (r"alphabetic or numeric", "`*` and `&` at the start of a value name YAML anchors", _STAR),
)

_CONTEXTS = {
    "flow mapping": "in the mapping that begins here",
    "flow sequence": "in the list that begins here",
    "block mapping": "in the mapping that begins here",
    "block collection": "in the list that begins here",
    "plain scalar": "this value",
    "quoted scalar": "the quoted text begins here",
    "simple key": "this line",
    "block scalar": "this sign",
}


def in_plain_words(problem: str) -> tuple[str, tuple[str, ...]]:
    """Our message for a reader's, and hints."""
    for pattern, words, hint in _PROBLEMS:
        found = re.search(pattern, problem)
        if found:
            return found.expand(words), (hint,)
    return problem, ()


def where_it_began(context: str) -> str:
    """What stands at the place that a reader calls the context of an error."""
    return next((words for part, words in _CONTEXTS.items() if part in context), context or "begins here")
