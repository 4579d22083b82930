"""A vector store in sixty lines: nothing but dictionaries, as an example of the protocol."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from hexamem.stores.vectors.protocol import PARTS, FloatArray, Metadata, Part


class MemoryVectorStore:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, Part], dict[str, tuple[FloatArray, Metadata]]] = {}
        self.fingerprints: dict[tuple[str, Part], str] = {}
        self.closed = False

    def upsert(
        self,
        owner: str,
        part: Part,
        ids: Sequence[str],
        vectors: FloatArray,
        metadatas: Sequence[Metadata],
        *,
        fingerprint: str,
    ) -> None:
        rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        self.records.setdefault((owner, part), {}).update(zip(ids, zip(rows, metadatas, strict=True), strict=True))
        self.fingerprints[owner, part] = fingerprint

    def delete(self, owner: str, part: Part, ids: Sequence[str] | None) -> None:
        if ids is None:
            self.records.pop((owner, part), None)
            self.fingerprints.pop((owner, part), None)
        for record_id in ids or ():
            self.records.get((owner, part), {}).pop(record_id, None)

    def query(
        self, owner: str, part: Part, vector: FloatArray, k: int, *, any_of: Mapping[str, Collection[str]] | None = None
    ) -> list[tuple[str, float]]:
        unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
        scored = [
            (record_id, float(row @ unit))
            for record_id, (row, metadata) in self.records.get((owner, part), {}).items()
            if any_of is None or any(set(values) & _values(metadata.get(key)) for key, values in any_of.items())
        ]
        return sorted(scored, key=lambda scored_id: -scored_id[1])[:k]

    def get(self, owner: str, part: Part, ids: Sequence[str] | None) -> dict[str, FloatArray]:
        records = self.records.get((owner, part), {})
        return {record_id: records[record_id][0] for record_id in (ids or records) if record_id in records}

    def ids(self, owner: str, part: Part) -> set[str]:
        return set(self.records.get((owner, part), {}))

    def count(self, owner: str, part: Part) -> int:
        return len(self.records.get((owner, part), {}))

    def drop_user(self, owner: str) -> None:
        for part in PARTS:
            self.delete(owner, part, None)

    def fingerprint(self, owner: str, part: Part) -> str | None:
        return self.fingerprints.get((owner, part))

    def close(self) -> None:
        self.closed = True


def _values(value: object) -> set[object]:
    return set(value) if isinstance(value, list | tuple) else {value}
