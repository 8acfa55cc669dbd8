"""`opgen schema`: the JSON Schema of specs, for editors."""

from __future__ import annotations

import json

import click

from opgen.cli.console import put

EXAMPLES = """\b
Examples:
  opgen schema > specs/opgen.schema.json
"""


@click.command(epilog=EXAMPLES)
def command() -> None:
    """Print the JSON Schema (draft 7) of specs, with which editors complete and check them."""
    from opgen.schema.json_schema import schema

    put(json.dumps(schema(), indent=2))
