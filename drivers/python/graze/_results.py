"""Results of the program as datasets of xarray, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

import numpy
import xarray

from graze import _graze

#: A result without groups, or the root "/" and the groups ("/bifurcation", "/sweep", …) of one that has some.
Result = Union[xarray.Dataset, dict[str, xarray.Dataset]]

# Attributes that the library keeps in fields of their own.
_FIELDS = ("units", "long_name", "flag_values", "flag_meanings")
# What xarray keeps of a file that is nothing to write again.
_OF_THE_FILE = ("digest", "blocks", "identity")


def _variable(dimensions, values, unit, long_name, flags, attributes) -> xarray.Variable:
    attrs: dict[str, Any] = {}
    if unit:
        attrs["units"] = unit
    if long_name:
        attrs["long_name"] = long_name
    if flags:
        attrs["flag_values"] = numpy.arange(len(flags), dtype=values.dtype)
        attrs["flag_meanings"] = " ".join(flags)
    return xarray.Variable(dimensions, values, {**attrs, **attributes})


def _dataset(arrays, attributes, extra: Mapping[str, str]) -> xarray.Dataset:
    variables = {name: _variable(*rest) for name, *rest in arrays}
    attributes = dict(attributes)
    named = attributes.pop("coordinates", "").split()
    coordinates = [name for name, v in variables.items() if v.dims == (name,) or name in named]
    data = xarray.Dataset({name: v for name, v in variables.items() if name not in coordinates},
                          {name: variables[name] for name in coordinates}, {**extra, **attributes})
    if named:
        data.encoding["coordinates"] = " ".join(named)
    return data


def to_xarray(triple, attributes: Mapping[str, str]) -> Result:
    """The dataset of a result, its arrays not copied; a dictionary of datasets where it has groups."""
    arrays, own, groups = triple
    root = _dataset(arrays, own, attributes)
    if not groups:
        return root
    parts = {"/": root}

    def add(path, groups):
        for name, (arrays, own, inner) in groups.items():
            parts[f"{path}/{name}"] = _dataset(arrays, own, {})
            add(f"{path}/{name}", inner)

    add("", groups)
    return parts


def _text(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(str(v) for v in numpy.atleast_1d(value))


def _array(name: str, variable: xarray.Variable):
    values = variable.values
    flags = variable.attrs.get("flag_meanings", "").split()
    if values.dtype.kind in "OUS":  # indices that have been given their names
        flags = [str(text) for text in values]
        values = numpy.arange(len(flags), dtype=numpy.int32)
    further = {key: _text(value) for key, value in variable.attrs.items() if key not in _FIELDS}
    return (name, list(variable.dims), values, variable.attrs.get("units", ""), variable.attrs.get("long_name", ""),
            flags, further)


def _triple(data: xarray.Dataset, groups: dict[str, Any]):
    arrays = [_array(str(name), variable) for name, variable in data.variables.items()]
    named = [str(name) for name in data.coords if data[name].dims != (name,)]
    return (arrays, {"coordinates": " ".join(named)} if named else {}, groups)


def root_of(result: Result) -> xarray.Dataset:
    """The part of a result that has its attributes."""
    return result if isinstance(result, xarray.Dataset) else result["/"]


def from_xarray(result: Result):
    """Arrays, own attributes and groups of a result, as the library takes them; and its attributes as texts."""
    tree: dict[str, Any] = {}
    if not isinstance(result, xarray.Dataset):
        for path in sorted(result):
            if path == "/":
                continue
            *above, name = path.strip("/").split("/")
            groups = tree
            for part in above:
                groups = groups[part][2]
            data = result[path]
            arrays, own, inner = _triple(data, {})
            groups[name] = (arrays, {**own, **{key: _text(value) for key, value in data.attrs.items()}}, inner)
    root = root_of(result)
    attributes = {key: _text(value) for key, value in root.attrs.items() if key not in _OF_THE_FILE}
    return _triple(root, tree), attributes


def flags(array: xarray.DataArray) -> list[str]:
    """The names of the classes 0, 1, … of an array, or of the indices of a dimension: `flags(result.attractor)[3]`."""
    return array.attrs.get("flag_meanings", "").split()


def save(result: Result, path: str | os.PathLike, overwrite: bool = False) -> None:
    """Writes a result to a file of the program: `graze plot`, `graze info` and `graze motion` read it.

    What has been cut out of a result or added to it is written as it is; `graze run` does not take the file for its
    own. Raises InputError where another file stands there, unless `overwrite`, and OSError or RuntimeError where it
    cannot be written; then nothing half written stays behind.
    """
    triple, attributes = from_xarray(result)
    identity = "saved from Python: " + str(root_of(result).attrs.get("identity", ""))
    _graze.save(os.fspath(path), triple, attributes, identity, overwrite)
