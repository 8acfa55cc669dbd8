"""`python -m opgen.cli`."""

from opgen.cli import main

main()
