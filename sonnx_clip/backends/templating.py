"""The Jinja2 templates of the printers."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sonnx_clip.backends.layout import layout


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sonnx_clip.backends"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  what is rendered is WhyML, Python and shell, not HTML
    )
    environment.filters["layout"] = layout
    return environment


def template_text(name: str) -> str:
    """A template as it is written, by its file name."""
    environment = _environment()
    assert environment.loader is not None
    text, *_ = environment.loader.get_source(environment, name)
    return text


def template(name: str) -> Template:
    """A template by its file name."""
    return _environment().get_template(name)
