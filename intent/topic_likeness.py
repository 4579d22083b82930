"""How alike texts are in what they are about, by vectors alone.

All vectors of an embedder lean one way, those of static ones far, since all texts have their commonest words in common.
So the cosine of two texts that have nothing to do with each other is well above 0, and the more so the longer they are.
What vectors have in common is taken from each before they are compared: the mean over sentences on many things (Mu and
Viswanath, All-but-the-Top, ICLR 2018, section 2, without the second step).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from hexamem.stores.embedders.base import FloatArray

__all__ = ["TopicLikeness"]

_CJK = re.compile(r"[\u3400-\u9fff]")


class TopicLikeness:
    """Compares texts by what they are about. Safe to use from several threads.

    Args:
        embed: gives vectors of texts, ``(n, d)``; it costs nothing. It is first called when texts are first compared.
    """

    def __init__(self, embed: Callable[[Sequence[str]], FloatArray]) -> None:
        self._embed = embed

    def likest(self, text: str, others: Sequence[str]) -> float:
        """The cosine, -1 to 1, of a text with the one of the others that is most like it, without what all texts have in
        common; 1 where the embedder knows no word of the text, of whose topic nothing can be said then; -1 where there are
        no others."""
        if not others:
            return -1.0
        texts = [text, *others]
        vectors = np.asarray(self._embed(texts), np.float32)
        if not vectors[0].any():
            return 1.0
        english, chinese = self._means
        vectors = vectors - np.stack([chinese if _CJK.search(one) else english for one in texts])
        lengths = np.linalg.norm(vectors, axis=1)
        return float(np.max(vectors[1:] @ vectors[0] / np.maximum(lengths[1:] * lengths[0], 1e-9)))

    @cached_property
    def _means(self) -> tuple[FloatArray, FloatArray]:
        sentences = json.loads((Path(__file__).parent / "topic_sentences.json").read_text(encoding="utf-8"))
        english, chinese = (
            np.asarray(self._embed(sentences[language]), np.float32).mean(0) for language in ("english", "chinese")
        )
        return english, chinese
