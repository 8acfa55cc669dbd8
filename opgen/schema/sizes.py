"""The sizes that a module's constructor takes."""

from __future__ import annotations

import keyword

from opgen.schema.model import OpSpec


def constructor_sizes(spec: OpSpec) -> dict[str, str]:
    """Dim to argument: what `module.dims` says; for other dims of parameters and buffers, the dim in small letters."""
    module = spec.module
    if module is None:
        return {}
    sizes = {str(dim): str(argument) for dim, argument in module.dims.items()}
    taken = {*sizes.values(), *(str(p.name) for p in spec.params), *(str(t.name) for t in spec.inputs)}
    owned = {str(name) for name, _ in (*module.parameters, *module.buffers)}
    for tensor in spec.inputs:
        for item in tensor.shape or () if tensor.name in owned else ():
            dim = item.text
            if dim[:1].isupper() and dim not in sizes:
                argument = dim.lower()
                while argument in taken or keyword.iskeyword(argument):
                    argument += "_"
                sizes[dim] = argument
                taken.add(argument)
    return sizes
