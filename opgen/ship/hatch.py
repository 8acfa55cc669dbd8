"""The build hook of hatchling: a project's own wheel gets its operators as `opgen package` would ship them.

    [build-system]
    requires = ["hatchling", "opgen"]
    build-backend = "hatchling.build"

    [tool.hatch.build.targets.wheel.hooks.opgen]

hatchling finds the hook by the entry point `hatch` of opgen, and nothing else imports this module. Editable
installations are left alone: `opgen compile` puts libraries beside the operators there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from opgen.diagnostics.model import Diagnostic, UserError
from opgen.diagnostics.text import render_all
from opgen.ship.compiled import Compiled, compiled
from opgen.ship.contents import files, left_out, operators, unfit
from opgen.ship.tags import tag_of
from opgen.toolchain.stated import stated
from opgen.write.paths import GENERATED
from opgen.write.settings import command, settings_of

_THEIRS = ("dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features")
_OURS = ("pure",)


class OpgenBuildHook(BuildHookInterface):
    """Compiles the operators of a project for all machines and puts them into its wheel, without their tests."""

    PLUGIN_NAME = "opgen"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what the wheel holds beside what hatchling finds, and for which machines it is."""
        if self.target_name != "wheel" or version != "standard":
            return
        for key in self.config:
            if key not in (*_OURS, *_THEIRS):
                self.app.abort(f"opgen's build hook has no option '{key}'; there is: {', '.join(_OURS)}")
        try:
            self._ship(build_data)
        except UserError as e:
            self._refuse(e.diagnostics)

    def _ship(self, build_data: dict[str, Any]) -> None:
        settings = settings_of(Path(self.root) / "_")
        out = settings.out or Path(os.path.relpath(Path(self.root) / GENERATED))
        ops = operators(out)
        if not ops:
            self.app.abort(f"there is no generated operator in {out}; first: {command('build', out=out)}")
        self._refuse(unfit(out, ops, settings))
        with stated(settings):
            made = Compiled() if self.config.get("pure") else compiled(out, ops, settings.jobs)
        self._refuse(made.diagnostics)
        place = Path(os.path.relpath(out, self.root)).as_posix()
        for name, path in {**files(out, ops), **made.libraries}.items():
            build_data["force_include"][os.path.abspath(path)] = f"{place}/{name}"
        if made.libraries:
            build_data["pure_python"] = False
            build_data["tag"] = tag_of(path.read_bytes() for path in made.libraries.values())
        self._leave_out([f"/{place}/{name}" for op in ("", *ops) for name in left_out(op)])
        self._leave_out([f"/{place}/*/_native*"])  # what was compiled for this machine

    def _leave_out(self, patterns: Sequence[str]) -> None:
        """Hooks add to what is included only, so patterns go where the project would write them."""
        own = self.build_config.target_config
        own["exclude"] = [*own.get("exclude", self.build_config.build_config.get("exclude", [])), *patterns]

    def _refuse(self, diagnostics: Sequence[Diagnostic]) -> None:
        """End the build here where there are any."""
        if diagnostics:
            self.app.abort(render_all(diagnostics))


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:
    return OpgenBuildHook
