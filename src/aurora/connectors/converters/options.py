"""Options of converters: declared as models, and refused with all that is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aurora.connectors.converters.base import MAX_RECORD_BYTES
from aurora.errors import InputError, did_you_mean


class Options(BaseModel):
    """What all converters take. Texts such as ``"10"`` are read as numbers, since a command line gives only texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_record_bytes: int = Field(MAX_RECORD_BYTES, ge=1, le=1 << 30)
    """A longer record is rejected."""


O = TypeVar("O", bound=Options)  # noqa: E741


def read_options(model: type[O], given: Mapping[str, Any], converter: str) -> O:
    """The options as the model has them; raises InputError that names everything wrong."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(_told(model, detail["loc"], detail["type"], detail["msg"]) for detail in error.errors())
        raise InputError(f"options of the converter {converter!r}: {wrong}") from None


def _told(model: type[Options], loc: tuple[int | str, ...], kind: str, message: str) -> str:
    name = ".".join(map(str, loc))
    if kind == "extra_forbidden":
        legal = list(model.model_fields)
        hint = did_you_mean(str(loc[-1]), legal)
        return f"there is no option {name!r}; the options are {', '.join(legal)}" + (f", {hint}" if hint else "")
    if kind == "missing":
        return f"the option {name!r} is not given; add it"
    message = message.removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
