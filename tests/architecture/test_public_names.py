"""The public surface is flat, sorted, small and documented."""

from __future__ import annotations

import inspect
import types
import typing

import aurora


def _is_plain_data(value: object) -> bool:
    return isinstance(value, str | int | float | tuple | types.UnionType) or typing.get_origin(value) is not None


def test_the_names_are_sorted_and_unique() -> None:
    names = list(aurora.__all__)
    assert names == sorted(set(names))


def test_the_names_are_few() -> None:
    assert len(aurora.__all__) <= 30, "a name costs every reader; export what users need and no more"


def test_the_list_is_complete_and_flat() -> None:
    present = {
        name
        for name, value in vars(aurora).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name != "annotations"
    }
    assert present == {name for name in aurora.__all__ if not name.startswith("_")}
    assert not [name for name in aurora.__all__ if isinstance(getattr(aurora, name), types.ModuleType)]


def test_every_public_name_is_documented() -> None:
    silent = []
    for name in aurora.__all__:
        value = getattr(aurora, name)
        own = value.__doc__ if inspect.isclass(value) else inspect.getdoc(value)
        if not own and not _is_plain_data(value):
            silent.append(name)
    assert not silent, f"no docstring: {silent}"
