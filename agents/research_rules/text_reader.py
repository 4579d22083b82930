"""What the rules of research read in texts, remembered for one run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

from ...retrieval.evidence import WeighedSentence, weighed_sentences
from .chinese_words import ChineseWords
from .question import Stems, stems

__all__ = ["TextReader"]


class TextReader:
    """Reads texts and remembers what it read as long as it lives: that of one run at most, since texts may be erased.

    Attributes:
        stems: as :func:`~.question.stems`.
        sentences: as :func:`~hexamem.retrieval.evidence.weighed_sentences`.
        chinese: compares Chinese words; made when first asked for, since it reads the lexicon.
    """

    def __init__(self) -> None:
        self.stems: Stems = cache(stems)
        self.sentences: Callable[[str], list[WeighedSentence]] = cache(weighed_sentences)

    @cached_property
    def chinese(self) -> ChineseWords:
        return ChineseWords()
