"""Word pieces of plain text by looking words up: the same numbers as the tokenizer gives, in a fraction of the time.

WordPiece takes the longest piece that a word begins with, and goes on behind it (Wu et al. 2016, arXiv 1609.08144; as
BERT has it, Devlin et al. 2019). Most words of a conversation are a piece themselves. Texts with other characters than
plain ones go to the tokenizer. Nothing of a text is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

__all__ = ["WordPieces"]

_PLAIN = re.compile(r"[\t\n\r -~‘’“”–—…]*")
"""Characters of which BERT's rules only lower the case: blanks divide words, each punctuation mark is a word."""
_WORD = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")


class WordPieces:
    """A tokenizer's word pieces of texts. Safe to use from several threads.

    Args:
        tokenizer: without truncation and padding. One that does not follow BERT's rules does all of the work itself.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @cached_property
    def _pieces(self) -> dict[str, int]:
        """Every piece, read when first needed; none where the tokenizer does not follow BERT's rules."""
        model, normal, split = self._tokenizer.model, self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        bert = (
            isinstance(model, WordPiece)
            and isinstance(normal, BertNormalizer)
            and isinstance(split, BertPreTokenizer)
            and bool(normal.lowercase and normal.clean_text)
        )
        pieces: dict[str, int] = self._tokenizer.get_vocab(False) if bert else {}
        return pieces if bert and model.unk_token in pieces else {}

    @cached_property
    def _added(self) -> re.Pattern[str]:
        """Matches what is found in a text before anything else, whatever stands around it; its letters are small."""
        added = (one.content.lower() for one in self._tokenizer.get_added_tokens_decoder().values())
        return re.compile("|".join(map(re.escape, added)) or r"(?!)")

    @cached_property
    def _limits(self) -> tuple[int, int, str, int]:
        """Longest word and longest piece in characters, what stands before a piece within a word, the unknown piece."""
        model = self._tokenizer.model
        prefix = model.continuing_subword_prefix
        return model.max_input_chars_per_word, max(map(len, self._pieces)), prefix, self._pieces[model.unk_token]

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the pieces of each text, in reading order; text that has a UTF-8 form."""
        found: list[list[int]] = [[]] * len(texts)
        slow: list[int] = []
        get = self._pieces.get
        for place, text in enumerate(texts):
            words = self._words(text)
            if words is None:
                slow.append(place)
                continue
            numbers = [get(word, -1) for word in words]
            if -1 in numbers:
                pairs = zip(words, numbers, strict=True)
                numbers = [one for word, known in pairs for one in ((known,) if known >= 0 else self._parts(word))]
            found[place] = numbers
        if len(slow) == 1:  # a batch wakes threads, which takes longer than one text does
            found[slow[0]] = self._tokenizer.encode(texts[slow[0]], add_special_tokens=False).ids
        elif slow:
            encoded = self._tokenizer.encode_batch_fast([texts[place] for place in slow], add_special_tokens=False)
            for place, one in zip(slow, encoded, strict=True):
                found[place] = one.ids
        return found

    def _words(self, text: str) -> list[str] | None:
        """The words of a text as BERT divides it; None where its rules do more than that."""
        plain = (text.isascii() and text.isprintable()) or _PLAIN.fullmatch(text) is not None
        if not plain or not self._pieces:
            return None
        lowered = text.lower()
        if self._added.search(lowered):
            return None
        return _WORD.findall(lowered)

    def _parts(self, word: str) -> list[int]:
        """The pieces of a word that is none itself; the unknown piece alone where they do not make up all of it."""
        most, longest, prefix, unknown = self._limits
        if len(word) > most:
            return [unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            before = prefix if start else ""
            for end in range(min(len(word), start + longest), start, -1):
                number = self._pieces.get(before + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [unknown]
        return found
