"""Taking secrets out of values before they are written, and out of error messages before they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from hexamem.errors import HexamemError
from hexamem.memory_types import Source, VaultItem
from hexamem.stores.ledger import Transaction, read_items, store_secret, whole_words
from hexamem.stores.secrets import Cipher, SecretSpan, find_references, find_secrets, reference
from hexamem.stores.secrets.captions import safe_caption

__all__ = ["Keep", "Redactor", "holds", "keep_in_vault", "redact_texts", "safe_errors", "strings_in", "vault_items"]

P = ParamSpec("P")
R = TypeVar("R")
Keep = Callable[[str, SecretSpan], str]
"""Stores (plaintext, span) and returns the secret's id."""

# A shorter secret (a PIN) may stand in other sentences by chance: it is taken out of its own message alone, and as a
# whole word. A longer one is taken out of the whole call, wherever it stands.
_SPREAD_LENGTH = 8
_NAMES, _VALUE = ("name", "label", "key"), "value"


@dataclass(slots=True)
class Redactor:
    """Replaces secrets by references, keeping each in the vault when it is first replaced.

    First ``look`` at everything of a call, then ``clean`` each part: a secret that one part gives away by its words
    ("the password is …") is then taken out of the others too.

    Args:
        keep: where secrets are kept; None keeps nothing and puts ``[caption]`` alone.
        enabled: whether secrets are looked for at all.

    Attributes:
        replaced: plaintext → what was put in its place, in the order of replacing.
    """

    keep: Keep | None
    enabled: bool = True
    replaced: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, SecretSpan] = field(default_factory=dict)
    _spans: dict[str, tuple[SecretSpan, ...]] = field(default_factory=dict)
    _long: dict[str, list[str]] = field(
        default_factory=dict
    )  # long secrets by how they begin: few are tried at a place

    def look(self, value: Any) -> frozenset[str]:
        """Find the secrets in every string and whole number of a value; returns them, for ``clean``."""
        found: set[str] = set()
        if self.enabled:
            self._look(value, "", found)
        return frozenset(found)

    def know(self, known: Mapping[str, SecretSpan]) -> None:
        """Take these long secrets out of everything of the call as well: they are in the vault already."""
        for plaintext, span in known.items():
            self._note(plaintext, span)

    def _look(self, value: Any, key: str, found: set[str]) -> None:
        if type(value) is str and not key:  # most are; the tests below take several times longer
            self._take(value, 0, found)
        elif isinstance(value, Mapping):
            for name, part in value.items():
                self._look(name, "", found)
                self._look(part, name if isinstance(name, str) else "", found)
            if isinstance(value.get(_VALUE), (str, int)):  # {"name": "DB_PASSWORD", "value": "hunter2"}
                for name in _NAMES:
                    if isinstance(value.get(name), str):
                        self._look(value[_VALUE], value[name], found)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for part in value:
                self._look(part, key, found)
        elif isinstance(value, (str, int)) and not isinstance(value, bool):
            text = str(value)
            self._take(text, 0, found)
            if key:  # {"password": "hunter2"}: the key says what the value is
                self._take(f"{key}: {text}", len(key) + 2, found)

    def _take(self, text: str, start: int, found: set[str]) -> None:
        for span in self._find(text):
            if span.start >= start:
                plaintext = text[span.start : span.end]
                found.add(plaintext)
                self._note(plaintext, span)

    def _note(self, plaintext: str, span: SecretSpan) -> None:
        if plaintext not in self._seen:
            self._seen[plaintext] = span
            if len(plaintext) >= _SPREAD_LENGTH:
                self._long.setdefault(plaintext[:_SPREAD_LENGTH], []).append(plaintext)

    def _find(self, text: str) -> tuple[SecretSpan, ...]:
        spans = self._spans.get(text)
        if spans is None:
            spans = self._spans[text] = find_secrets(text)
        return spans

    def clean(self, value: Any, near: Collection[str] = ()) -> Any:
        """The value without secrets: its own, those ``near`` (of the same message), and every long one of the call.

        A whole number that is a secret becomes the text of its reference.
        """
        if not self._seen:
            return value
        if isinstance(value, str):
            return self._clean_text(value, near)
        if isinstance(value, Mapping):
            return {self.clean(key, near): self.clean(part, near) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.clean(part, near) for part in value)
        if isinstance(value, int) and not isinstance(value, bool):
            text = str(value)
            return self._put(text) if text in self._seen and (text in near or len(text) >= _SPREAD_LENGTH) else value
        return value

    def _clean_text(self, text: str, near: Collection[str]) -> str:
        pieces: list[str] = []
        end = 0
        for span in self._find(text) if self.enabled else ():
            plaintext = text[span.start : span.end]
            if plaintext in self._seen:
                pieces += [text[end : span.start], self._put(plaintext)]
                end = span.end
        return self._spread("".join([*pieces, text[end:]]), [word for word in near if len(word) < _SPREAD_LENGTH])

    def _spread(self, text: str, short: Collection[str]) -> str:
        """Replace every long secret of the call, and these short ones, in what lies between references."""
        pieces: list[str] = []
        end = 0
        for found in (*find_references(text), None):
            pieces.append(self._between(text[end : found.start if found else len(text)], short))
            if found:
                pieces.append(text[found.start : found.end])
                end = found.end
        return "".join(pieces)

    def _between(self, text: str, short: Collection[str]) -> str:
        spans = [match.span() for word in short if word in text for match in whole_words(word).finditer(text)]
        for at in range(len(text) - _SPREAD_LENGTH + 1) if self._long else ():
            for word in self._long.get(text[at : at + _SPREAD_LENGTH], ()):
                if text.startswith(word, at):
                    spans.append((at, at + len(word)))
        pieces: list[str] = []
        end = 0
        for start, stop in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= end:  # of secrets that overlap the first, then the longest
                pieces += [text[end:start], self._put(text[start:stop])]
                end = stop
        return "".join([*pieces, text[end:]])

    def _put(self, plaintext: str) -> str:
        put = self.replaced.get(plaintext)
        if put is None:
            span = self._described(plaintext)
            put = reference(self.keep(plaintext, span), span.caption) if self.keep else f"[{span.caption}]"
            self.replaced[plaintext] = put
        return put

    def _described(self, plaintext: str) -> SecretSpan:
        """The secret's span with a caption that tells no other secret of the call."""
        span = self._seen[plaintext]
        own, caption = plaintext.casefold(), span.caption.casefold()
        if any(one.casefold() in caption and one.casefold() != own for one in self._seen):
            noun = span.kind.replace("_", " ")
            return replace(span, caption=safe_caption(noun, noun, plaintext))
        return span


def holds(text: str, secret: str) -> bool:
    """Whether a text holds a secret: a short one as a whole word, a long one anywhere."""
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


def keep_in_vault(tx: Transaction, cipher: Cipher) -> Keep:
    """Where a transaction's user keeps secrets."""

    def keep(plaintext: str, span: SecretSpan) -> str:
        return store_secret(tx, cipher, plaintext, kind=span.kind, caption=span.caption, sensitivity=span.sensitivity)

    return keep


def vault_items(tx: Transaction, found: Mapping[str, SecretSpan], sources: Sequence[Source]) -> list[VaultItem]:
    """A vault item for each secret that was taken out of an item and has none yet, citing the steps that the item cites.

    Args:
        found: id of the secret → what it is.
    """
    if not found:
        return []
    held = {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}
    cited = tuple(Source(step_id=step_id) for step_id in dict.fromkeys(source.step_id for source in sources))
    return [
        VaultItem(
            user=tx.user,
            entry_type=span.kind,
            caption=span.caption,
            sensitivity=span.sensitivity,
            secret_id=secret_id,
            sources=cited,
        )
        for secret_id, span in found.items()
        if secret_id not in held
    ]


def redact_texts(tx: Transaction, cipher: Cipher, find: bool, *texts: str) -> list[str]:
    """Short texts of a call that go into the history (who, why), their secrets replaced by references."""
    redactor = Redactor(keep_in_vault(tx, cipher), find and bool(tx.user_id))
    near = redactor.look(texts)
    return [redactor.clean(text, near) for text in texts]


def safe_errors(call: Callable[P, R]) -> Callable[P, R]:
    """Errors that the call raises tell no secret of its arguments, nor the error from which they were made.

    Messages repeat the value that does not fit, and a secret may have been given in its place.
    """

    @wraps(call)
    def safe(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except HexamemError as error:
            _make_safe(error, [args[1:], kwargs])
            raise

    return safe


def _make_safe(error: HexamemError, given: Any) -> None:
    redactor = Redactor(None)
    near = redactor.look([given, error.args])
    told = []
    for text in error.args:
        cleaned = redactor.clean(text, near)
        for plaintext in near if isinstance(cleaned, str) else ():
            for form in (repr(plaintext)[1:-1], json.dumps(plaintext)[1:-1]):
                if form != plaintext and form in cleaned:
                    cleaned = cleaned.replace(form, redactor.clean(plaintext, near))
        told.append(cleaned)
    error.args = tuple(told)
    if error.__suppress_context__:  # what Python would not show either
        error.__context__ = None
