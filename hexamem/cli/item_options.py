"""The fields of an item as options, for `hexamem add`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

__all__ = ["ItemOptions"]


@dataclass(frozen=True, kw_only=True)
class ItemOptions:
    """Each field by its name; what was not given is None."""

    name: Annotated[str | None, typer.Option(help="Whom or what a semantic item is about.")] = None
    summary: Annotated[
        str | None, typer.Option(help="What an item says, in a line: semantic, episodic, procedural or resource.")
    ] = None
    details: Annotated[str | None, typer.Option(help="More of it: semantic or episodic.")] = None
    source: Annotated[str | None, typer.Option(help="Where a semantic item or a secret comes from, in any words.")] = (
        None
    )
    label: Annotated[str | None, typer.Option("--label", help="The name of a core block.")] = None
    value: Annotated[str | None, typer.Option("--value", help="The text of a core block.")] = None
    limit: Annotated[str | None, typer.Option("--limit", help="Most characters of a core block.")] = None
    occurred_at: Annotated[
        str | None, typer.Option("--occurred-at", metavar="TIME", help="When an episodic item happened.")
    ] = None
    actor: Annotated[str | None, typer.Option(help="Who did what happened; user by default.")] = None
    event_type: Annotated[str | None, typer.Option(help="What sort of event it was; event by default.")] = None
    entry_type: Annotated[
        str | None,
        typer.Option(
            help="What sort of procedure or secret it is, such as guide or api_key; workflow and secret by default."
        ),
    ] = None
    steps: Annotated[list[str] | None, typer.Option("--step", help="One step of a procedure; repeat it.")] = None
    title: Annotated[str | None, typer.Option(help="What a resource, or FILE, is called.")] = None
    resource_type: Annotated[
        str | None, typer.Option(help="What sort of resource it is, such as email or code; text by default.")
    ] = None
    content: Annotated[str | None, typer.Option(help="The text of a resource, whole.")] = None
    caption: Annotated[str | None, typer.Option("--caption", help="What a vault item is found by.")] = None
    sensitivity: Annotated[str | None, typer.Option("--sensitivity", help="Of a vault item: low, medium or high.")] = (
        None
    )
    tree_path: Annotated[
        list[str] | None,
        typer.Option("--tree-path", help="Where it belongs, from wide to narrow: one level; repeat it."),
    ] = None
    labels: Annotated[list[str] | None, typer.Option("--labels", help="One label; repeat it for more.")] = None
    sources: Annotated[list[str] | None, typer.Option("--from-step", help="A step it comes from; repeat it.")] = None
    valid_from: Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="True from then on.")] = None
    valid_to: Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="No longer true then.")] = None
    metadata: Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="A JSON object.")] = None

    @property
    def given(self) -> list[tuple[str, Any]]:
        """Field and value of each that was given."""
        found = [(one.name, getattr(self, one.name)) for one in fields(self)]
        return [(name, value) for name, value in found if value is not None]
