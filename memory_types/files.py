"""Files in memory: the content that a reader extracts from one, and the receipt of adding it."""

from __future__ import annotations

from pydantic import Field

from hexamem.memory_types.base import Record
from hexamem.memory_types.items import ResourceItem

__all__ = ["AddedFile", "ReadFile", "Section"]


class Section(Record):
    """A part of a file with its place: a page, the text under a heading, a range of rows, or none of these.

    Attributes:
        heading: the heading above the text, which is not part of it. level: 1 (widest) to 6.
        rows: the first and last row of data, counted from 1 without the header.
    """

    text: str
    page: int | None = Field(default=None, ge=1)
    heading: str | None = None
    level: int = Field(default=1, ge=1, le=6)
    rows: tuple[int, int] | None = None


class ReadFile(Record):
    """The content of a file.

    Attributes:
        mime_type: by its bytes, otherwise by its name.
        resource_type: ``text``, ``markdown``, ``html``, ``csv``, ``pdf``, ``docx``, ``image``, ``audio``; ``video``,
            ``archive`` or ``file`` for what is only stored.
        content: the whole text: pages parted by form feeds, headings as Markdown's, one line a row of a table. Empty
            for pictures, recordings and what is only stored.
        sections: the same in parts with their places.
    """

    title: str = ""
    mime_type: str
    resource_type: str
    content: str = ""
    sections: tuple[Section, ...] = ()
    degraded: tuple[str, ...] = ()


class AddedFile(Record):
    """The acknowledgement of ``add_file``.

    Attributes:
        repeated: whether the very same file was stored before; nothing was added then.
        superseded: the id of the item of the former version of the file.
        passages: the number of its passages that are searched; 1 for a short file.
        secrets: the vault references that replace secrets in the text.
    """

    item: ResourceItem
    repeated: bool = False
    superseded: str | None = None
    passages: int = 1
    secrets: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
