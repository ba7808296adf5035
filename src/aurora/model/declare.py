"""Makes an element from its parameters, and turns what is wrong with them into problems.

Pydantic finds the mistakes; here they get our ids, the legal choices and a way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from aurora.errors import Report
from aurora.model.element import Element
from aurora.model.naming import shown, suggestion
from aurora.model.places import Path

E = TypeVar("E", bound=Element)

_WANTED = {
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
}


def parameters(declaration: type[BaseModel]) -> tuple[str, ...]:
    """The parameters as documents write them.

    >>> from aurora.model.elements import Output
    >>> parameters(Output)
    ('tags', 'description', 'manual', 'from', 'qos')
    """
    return tuple(field.alias or name for name, field in declaration.model_fields.items() if name != "name")


def declare(declaration: type[E], name: str, given: Mapping[Any, Any], report: Report) -> E | None:
    """The element, or None when parameters are wrong; everything wrong goes to ``report``.

    A parameter that does not exist is reported and left out, so that the rest of the element is still checked.
    """
    legal = parameters(declaration)
    known = {key: value for key, value in given.items() if key in legal}
    for key in given:
        if key not in legal:
            _unknown(key, legal, report.at(_step(key)))
    try:
        return declaration.model_validate({**known, "name": name})
    except ValidationError as error:
        _translate(error, declaration, known, report)
        return None


def _step(key: object) -> str | int:
    return key if isinstance(key, str | int) else str(key)


def _unknown(key: object, legal: tuple[str, ...], report: Report) -> None:
    hint = suggestion(key, legal, "remove it")
    report.add("unknown-parameter", f"there is no parameter {shown(key)}", hint, choices=legal)


def _translate(error: ValidationError, declaration: type[BaseModel], given: Mapping[Any, Any], report: Report) -> None:
    wrong: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        if detail["type"] == "missing":
            parent = _within(detail["loc"][:-1], given)
            report.at(*parent).add(
                "missing-parameter",
                f"{_dotted((*parent, detail['loc'][-1]))!r} is not given",
                f"add {detail['loc'][-1]!r}",
                choices=_legal_at(declaration, parent),
            )
        elif detail["type"] == "extra_forbidden":
            path = _within(detail["loc"], given)
            _unknown(path[-1], _legal_at(declaration, path[:-1]), report.at(*path))
        else:
            wrong.setdefault(_within(detail["loc"], given), []).append(detail)
    for path, details in wrong.items():
        _bad_value(path, details, given, report.at(*path))


def _bad_value(path: Path, details: list[ErrorDetails], given: Mapping[Any, Any], report: Report) -> None:
    """One problem for one value, however many forms of it were tried."""
    value = _value_at(path, given)
    found = f"{_dotted(path)} is {shown(value)}" if path else "the parameters do not fit"
    choices: list[str] = []
    wanted: list[str] = []
    for detail in details:
        if detail["type"] == "literal_error":
            choices += [word.strip("' ") for word in detail["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        elif detail["type"] == "value_error":
            # Our validators say what is wrong, and after a semicolon what to write instead.
            wrong, _, instead = detail["msg"].removeprefix("Value error, ").partition("; ")
            found = f"{_dotted(path)}: {wrong}" if path else wrong
            wanted += [instead] if instead else []
        elif detail["type"] == "too_short":
            wanted.append(f"give at least {detail['ctx']['min_length']}")
        elif detail["type"] in _WANTED:
            wanted.append(f"give {_WANTED[detail['type']]}")
        else:
            wanted.append(detail["msg"].replace("Input should be", "give a value"))
    if choices:
        wanted.append(suggestion(value, choices, "use one of the choices"))
    way_out = " or ".join(dict.fromkeys(wanted))
    report.add("bad-value", found, way_out or "give parameters that go together", choices=choices)


def _dotted(path: Path) -> str:
    return ".".join(str(step) for step in path)


def _within(loc: Path, given: Any) -> Path:
    """The part of a pydantic location that the parameters have; it also names members of unions and key checks."""
    path: list[str | int] = []
    for step in loc:
        in_list = isinstance(given, list | tuple) and isinstance(step, int) and step < len(given)
        if in_list or (isinstance(given, Mapping) and step in given):
            given = given[step]
            path.append(step)
    return tuple(path)


def _value_at(path: Path, given: Any) -> Any:
    for step in path:
        given = given[step]
    return given


def _legal_at(declaration: type[BaseModel], loc: Path) -> tuple[str, ...]:
    """The parameters that are legal at a location inside an element, such as those of its window."""
    models = [declaration]
    for step in loc:
        models = [
            inner
            for model in models
            for name, field in model.model_fields.items()
            if step in (name, field.alias)
            for inner in _models_in(field.annotation)
        ] or models
    legal = [name for model in models for name in parameters(model)]
    return tuple(dict.fromkeys(legal))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
