"""Command-line options made from the fields of settings dataclasses.

A command that takes a settings dataclass gets an option for each field. The option has the default
and the type of the field. Its help is the paragraph on the field in the ``Attributes`` section of
the dataclass's docstring.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Annotated, Any, Optional, get_args, get_origin, get_type_hints

import typer

__all__ = ["Fields", "field_options", "settings_options"]

SECTION = re.compile(r"^Attributes:\n(.*?)(?=^\S|\Z)", re.M | re.S)
ENTRY = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.M)
MARKUP = (
    (re.compile(r":\w+:`~[\w.]*?(\w+)`"), r"\1"),
    (re.compile(r":\w+:`\.?([\w.]+)`"), r"\1"),
    (re.compile(r'``(\w+)="(\w+)"``'), r"--\1 \2"),
    (re.compile(r'``"?([^`"]*)"?``'), r"\1"),
)
"""Patterns of docstring markup, and their replacements for a terminal."""


class Fields:
    """Selection of the fields of a settings dataclass that become options, and their names.

    Args:
        only: Names of the fields that become options; without names, all fields. Other fields keep
            their defaults.
        renamed: Option name for a field, by default the field's name. ``None`` makes no option.
    """

    def __init__(self, *only: str, **renamed: str | None) -> None:
        self._only, self._renamed = only, renamed

    @property
    def complete(self) -> bool:
        """Whether all fields become options, except those renamed to ``None``."""
        return not self._only

    def name(self, field: str) -> str | None:
        """Return the name of a field's option; ``None`` if the field has no option."""
        if self._only and field not in self._only:
            return None
        return self._renamed.get(field, field)


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a settings dataclass by one option per field.

    The returned command makes an instance of each dataclass from its options, and calls ``command``
    with it. For a parameter of type ``Settings | None``, the options have the default ``None``, and
    the argument is ``None`` unless an option is given.

    Args:
        command: A function for :mod:`typer`. Its settings parameters are annotated by a dataclass,
            or by ``Annotated[dataclass, Fields(...)]``.

    Raises:
        SettingsError: From the returned command, if a setting is wrong.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type, bool, dict[str, str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        settings, fields, optional = _settings(hints[name])
        if settings is None:
            parameters.append(
                parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
            )
            continue
        panel = name.capitalize() if fields.complete else None
        options = field_options(settings, fields, optional=optional, panel=panel)
        groups[name] = settings, optional, {field: one.name for field, one in options.items()}
        parameters.extend(options.values())

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, (settings, optional, names) in groups.items():
            values = {field: given.pop(option) for field, option in names.items()}
            given[name] = _made(settings, values, optional)
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def field_options(
    settings: type,
    fields: Fields | None = None,
    *,
    optional: bool = False,
    panel: str | None = None,
) -> dict[str, Parameter]:
    """Return the parameter of a command for each field of a settings dataclass.

    Args:
        settings: The dataclass. Every field must have a default.
        fields: Selection of the fields; by default all fields.
        optional: Give every option the default ``None``, instead of the default of its field.
        panel: Panel of the options in the help; by default the panel of the command's other
            options.

    Returns:
        Keyword-only parameters with :func:`typer.Option` annotations, by field name.
    """
    fields, help_of = fields or Fields(), _help(settings)
    hints = get_type_hints(settings)
    found = {}
    for field in dataclasses.fields(settings):
        name = fields.name(field.name)
        if name is not None:
            kind = Optional[hints[field.name]] if optional else hints[field.name]  # noqa: UP045
            option = typer.Option(help=help_of.get(field.name), rich_help_panel=panel)
            found[field.name] = Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=None if optional else field.default,
                annotation=Annotated[kind, option],
            )
    return found


def _settings(hint: Any) -> tuple[type | None, Fields, bool]:
    """Return the dataclass of a parameter or ``None``, its fields, and whether it is optional."""
    extras: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
    kind = next(one for one in get_args(hint) or (hint,) if one is not type(None))
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return None, Fields(), False
    fields = next((one for one in extras if isinstance(one, Fields)), Fields())
    return kind, fields, kind is not hint


def _made(settings: type, values: Mapping[str, Any], optional: bool) -> Any:
    """Return an instance of a settings dataclass with the values of its options.

    If ``optional`` and no option is given, return ``None``.
    """
    if not optional:
        return settings(**values)
    given = {field: value for field, value in values.items() if value is not None}
    return settings(**given) if given else None


def _help(settings: type) -> dict[str, str]:
    """Return the help of each field: its paragraph in the docstring, as plain text."""
    section = SECTION.search(inspect.cleandoc(settings.__doc__ or ""))
    found = {}
    for name, text in ENTRY.findall(section.group(1) if section else ""):
        for pattern, plain in MARKUP:
            text = pattern.sub(plain, text)
        found[name] = " ".join(text.split())
    return found
