"""Replacing secrets in values before they are written, and in error messages before they are shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from hexamem.errors import HexamemError
from hexamem.stores.ledger import Transaction, whole_words
from hexamem.stores.secrets import Cipher, SecretSpan, find_all_secrets, find_references, find_secrets, reference
from hexamem.stores.secrets.captions import safe_caption
from hexamem.stores.vault_writes import StoreSecret, store_in_vault

__all__ = ["MAX_ANSWER", "Redactor", "contains_secret", "redact_texts", "safe_errors", "strings_in"]

P = ParamSpec("P")
R = TypeVar("R")

# A shorter secret (a PIN) may occur in other sentences by chance: it is replaced in its own message alone, and as a
# whole word. A longer one is replaced everywhere in the call.
_SPREAD_LENGTH = 8
MAX_ANSWER = 100
"""Characters of a message that may be no more than the answer to the one before it."""
_NAMES, _VALUE = ("name", "label", "key"), "value"
# What a message repeats, as repr writes it.
_QUOTED = re.compile(r"(?<!\w)(['\"])(?:(?!\1)[^\\]|\\.){0,1000}\1", re.DOTALL)


@dataclass(slots=True)
class Redactor:
    """Replaces secrets by references, storing each in the vault when it is first replaced.

    First ``scan`` all values of a call, then ``clean`` each of them: a secret that is recognized by its context in
    one value ("the password is …") is then replaced in the others too.

    Args:
        store: stores a secret and returns its id; None stores nothing and puts ``[caption]`` in its place.
        enabled: whether secrets are searched for at all.

    Attributes:
        replaced: plaintext → its replacement, in the order of replacing.
    """

    store: StoreSecret | None
    enabled: bool = True
    replaced: dict[str, str] = field(default_factory=dict)
    _secrets: dict[str, SecretSpan] = field(default_factory=dict)
    _spans: dict[str, tuple[SecretSpan, ...]] = field(default_factory=dict)
    # The long secrets by their first characters, so that few are compared at each offset.
    _long: dict[str, list[str]] = field(default_factory=dict)

    def scan(self, value: Any) -> frozenset[str]:
        """Find the secrets in every string and whole number of a value; returns them, for ``clean``."""
        plaintexts: set[str] = set()
        if self.enabled:
            self._scan(value, "", plaintexts)
        return frozenset(plaintexts)

    def scan_answer(self, text: str, before: str) -> frozenset[str]:
        """Find the secrets of a text that may answer the message ``before``."""
        self.read([text], [before])
        return self.scan(text)

    def read(self, texts: Sequence[str], before: Sequence[str]) -> None:
        """Find the secrets of many texts at once, for later calls of ``scan``.

        Args:
            before: for each text the message that it may answer, or an empty text.
        """
        if self.enabled:
            for text, spans in zip(texts, find_all_secrets(texts, before), strict=True):
                known = self._spans.get(text, ())  # the same text may occur twice, once as an answer
                added = (span for span in spans if all(span.end <= old.start or old.end <= span.start for old in known))
                self._spans[text] = tuple(sorted((*known, *added), key=lambda span: span.start))

    def add_known(self, known: Mapping[str, SecretSpan]) -> None:
        """Replace these secrets too: the vault contains them already."""
        for plaintext, span in known.items():
            self._note(plaintext, span)

    def _scan(self, value: Any, key: str, plaintexts: set[str]) -> None:
        if type(value) is str and not key:  # the most frequent case first: the tests below take several times longer
            self._scan_text(value, 0, plaintexts)
            if value.startswith(("{", "[")):
                self._scan_json(value, plaintexts)
        elif isinstance(value, Mapping):
            for name, part in value.items():
                self._scan(name, "", plaintexts)
                self._scan(part, name if isinstance(name, str) else "", plaintexts)
            if isinstance(value.get(_VALUE), (str, int)):  # {"name": "DB_PASSWORD", "value": "hunter2"}
                for name in _NAMES:
                    if isinstance(value.get(name), str):
                        self._scan(value[_VALUE], value[name], plaintexts)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for part in value:
                self._scan(part, key, plaintexts)
        elif isinstance(value, (str, int)) and not isinstance(value, bool):
            text = str(value)
            self._scan_text(text, 0, plaintexts)
            if key:  # {"password": "hunter2"}: the key names what the value is
                self._scan_text(f"{key}: {text}", len(key) + 2, plaintexts)

    def _scan_json(self, text: str, plaintexts: set[str]) -> None:
        """Scan a text that may be JSON, such as a tool's result, as the value that it is."""
        try:
            self._scan(json.loads(text), "", plaintexts)
        except (ValueError, RecursionError):
            return  # no JSON, or nested too deeply: it was scanned as text

    def _scan_text(self, text: str, start: int, plaintexts: set[str]) -> None:
        for span in self._spans_in(text):
            if span.start >= start:
                plaintext = text[span.start : span.end]
                plaintexts.add(plaintext)
                self._note(plaintext, span)

    def _note(self, plaintext: str, span: SecretSpan) -> None:
        if plaintext not in self._secrets:
            self._secrets[plaintext] = span
            if len(plaintext) >= _SPREAD_LENGTH:
                self._long.setdefault(plaintext[:_SPREAD_LENGTH], []).append(plaintext)

    def _spans_in(self, text: str) -> tuple[SecretSpan, ...]:
        spans = self._spans.get(text)
        if spans is None:
            spans = self._spans[text] = find_secrets(text)
        return spans

    def clean(self, value: Any, near: Collection[str] = ()) -> Any:
        """The value without secrets: its own, those ``near`` (of the same message), and every long one of the call.

        A whole number that is a secret becomes the text of its reference.
        """
        if not self._secrets:
            return value
        if isinstance(value, str):
            return self._clean_text(value, near)
        if isinstance(value, Mapping):
            return {self.clean(key, near): self.clean(part, near) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.clean(part, near) for part in value)
        if isinstance(value, int) and not isinstance(value, bool):
            text = str(value)
            secret = text in self._secrets and (text in near or len(text) >= _SPREAD_LENGTH)
            return self._replacement(text) if secret else value
        return value

    def _clean_text(self, text: str, near: Collection[str]) -> str:
        pieces: list[str] = []
        end = 0
        for span in self._spans_in(text) if self.enabled else ():
            plaintext = text[span.start : span.end]
            if plaintext in self._secrets:
                pieces += [text[end : span.start], self._replacement(plaintext)]
                end = span.end
        short = [plaintext for plaintext in near if len(plaintext) < _SPREAD_LENGTH]
        return self._replace_outside_references("".join([*pieces, text[end:]]), short)

    def _replace_outside_references(self, text: str, short: Collection[str]) -> str:
        """Replace every long secret of the call, and these short ones; the references in the text stay unchanged."""
        pieces: list[str] = []
        end = 0
        for mark in find_references(text):
            pieces += [self._replace(text[end : mark.start], short), text[mark.start : mark.end]]
            end = mark.end
        return "".join([*pieces, self._replace(text[end:], short)])

    def _replace(self, text: str, short: Collection[str]) -> str:
        spans = [match.span() for word in short if word in text for match in whole_words(word).finditer(text)]
        for start in range(len(text) - _SPREAD_LENGTH + 1) if self._long else ():
            for plaintext in self._long.get(text[start : start + _SPREAD_LENGTH], ()):
                if text.startswith(plaintext, start):
                    spans.append((start, start + len(plaintext)))
        pieces: list[str] = []
        end = 0
        for start, stop in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= end:  # of secrets that overlap the first, then the longest
                pieces += [text[end:start], self._replacement(text[start:stop])]
                end = stop
        return "".join([*pieces, text[end:]])

    def _replacement(self, plaintext: str) -> str:
        if plaintext not in self.replaced:
            span = self._described(plaintext)
            self.replaced[plaintext] = (
                reference(self.store(plaintext, span), span.caption) if self.store else f"[{span.caption}]"
            )
        return self.replaced[plaintext]

    def _described(self, plaintext: str) -> SecretSpan:
        """The secret's span with a caption that contains no other secret of the call."""
        span = self._secrets[plaintext]
        own, caption = plaintext.casefold(), span.caption.casefold()
        if any(other.casefold() in caption and other.casefold() != own for other in self._secrets):
            noun = span.kind.replace("_", " ")
            return replace(span, caption=safe_caption(noun, noun, plaintext))
        return span


def contains_secret(text: str, secret: str) -> bool:
    """Whether a text contains a secret: a short one as a whole word, a long one anywhere."""
    return secret in text and (len(secret) >= _SPREAD_LENGTH or whole_words(secret).search(text) is not None)


def strings_in(value: Any) -> list[str]:
    """Every string of a value's mappings and lists, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for part in pair for text in strings_in(part)]
    if isinstance(value, (list, tuple)):
        return [text for part in value for text in strings_in(part)]
    return []


def redact_texts(tx: Transaction, cipher: Cipher, find: bool, *texts: str) -> list[str]:
    """Short texts of a call that go into the history (actor, reason), their secrets replaced by references."""
    redactor = Redactor(store_in_vault(tx, cipher), find and bool(tx.user_id))
    near = redactor.scan(texts)
    return [redactor.clean(text, near) for text in texts]


def safe_errors(call: Callable[P, R]) -> Callable[P, R]:
    """Decorate a method so that the errors it raises contain no secret of its arguments, nor their causes.

    Messages repeat the value that is invalid, and a secret may have been passed in its place. Secrets are searched for
    in the arguments and in what a message quotes, never in its own words.
    """

    @wraps(call)
    def safe(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except HexamemError as error:
            _remove_secrets(error, [args[1:], kwargs])
            raise

    return safe


def _remove_secrets(error: HexamemError, arguments: Any) -> None:
    redactor = Redactor(None)
    messages = [text for text in error.args if isinstance(text, str)]
    near = redactor.scan([arguments, [quote[0] for text in messages for quote in _QUOTED.finditer(text)]])
    cleaned_args = []
    for text in error.args:
        cleaned = redactor.clean(text, near)
        for plaintext in near if isinstance(cleaned, str) else ():
            for form in (repr(plaintext)[1:-1], json.dumps(plaintext)[1:-1]):
                if form != plaintext and form in cleaned:
                    cleaned = cleaned.replace(form, redactor.clean(plaintext, near))
        cleaned_args.append(cleaned)
    error.args = tuple(cleaned_args)
    if error.__suppress_context__:  # what Python would not show either
        error.__context__ = None
