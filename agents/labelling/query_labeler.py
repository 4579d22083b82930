"""The contextual intent of a question ``F_q`` by one model call, with names from the user's own vocabularies (STITCH, 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexamem.agents.labelling.schemas import QueryLabels
from hexamem.agents.labelling.task import abridged
from hexamem.errors import HexamemError
from hexamem.intent.label_names import fold_name
from hexamem.intent.label_types import type_synonyms
from hexamem.intent.query import QueryFilter
from hexamem.memory_types.labels import Label
from hexamem.models import Budget, CallInput, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.refining import labels_before, latest_seq, open_scopes
from hexamem.stores.ledger.usage import keep_usage
from hexamem.stores.vocabulary import Vocabulary

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method, RetryPolicy

__all__ = ["ModelQueryLabeler"]

_SCOPES, _TYPES, _QUESTION = 60, 150, 2_000
_MOST_SCOPES, _MOST_TYPES = 6, 4
_BELOW, _ABOVE, _COARSE = 0.8, 0.3, 0.6  # weights beside a label that is meant, beside them


@dataclass(frozen=True, slots=True)
class _Known:
    """What a question may be about: labels that steps carry."""

    vocabulary: Vocabulary
    used: frozenset[str]
    scopes: tuple[str, ...]

    def names(self, kind: str) -> dict[str, str]:
        """Name → id of the labels of a kind that are in use, wide ones too."""
        found: dict[str, str] = {}
        for label_id in self.vocabulary.by_id:
            one: Label = self.vocabulary.label(label_id)
            if one.kind == kind and one.id in self.used:
                found[one.name] = one.id
        return dict(list(found.items())[:_TYPES])


class ModelQueryLabeler:
    """Asks a chat model which labels a question names. Safe to call from several threads.

    Args:
        ledger: where the labels are read, and what the call cost is written.
        model: the chat model.
        notices: receives the user and one clear line where the classifiers had to do.
        method: how the reply's form is asked for.
        budget: what may be spent.
        retries: what to do about failures of requests.
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        notices: Callable[[str, str], None],
        *,
        method: Method = "json_schema",
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._ledger, self._notices, self._budget = ledger, notices, budget
        self._prompt = load_prompt("query_intent")
        self._call = StructuredCall(model, QueryLabels, agent="intent_labeler", method=method, retries=retries)

    def query(self, user: str, text: str, embedded: QueryFilter) -> QueryFilter:
        """The labels that a question names, by one call; those of the classifiers where it brings nothing.

        Args:
            user: whose labels.
            text: the question.
            embedded: what stands if the model does not answer, or there is nothing to choose from.
        """
        known = self._known(user)
        if not known.used:
            return embedded
        handles = {f"S{number}": label_id for number, label_id in enumerate(known.scopes, 1)}
        events, entities = known.names("event"), known.names("entity")
        usage = UsageMeter("query_intent")
        result = self._call.invoke(
            CallInput(
                messages=self._prompt.render(
                    scopes=_scope_lines(known.vocabulary, handles),
                    event_types=", ".join(events) or "none",
                    entity_types=", ".join(entities) or "none",
                    question=text[:_QUESTION],
                ),
                budget=self._budget,
                usage=usage,
            )
        )
        try:
            keep_usage(self._ledger, user, usage.drain())
        except HexamemError as error:  # the answer is right all the same
            self._notices(user, f"the cost of a question's labels could not be noted: {error}")
        if result.value is None:
            for line in result.degraded:
                self._notices(user, f"the labels of a question of user {user!r} were read by the classifiers: {line}")
            return embedded
        return _filter(known.vocabulary, result.value, handles, events, entities)

    def _known(self, user: str) -> _Known:
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return _Known(Vocabulary(()), frozenset(), ())
            last = latest_seq(tx) + 1
            vocabulary = Vocabulary(read_labels(tx))
            carried = labels_before(tx, last)
            scopes = [vocabulary.canonical(one.label_id) for one in open_scopes(tx, last, _SCOPES)]
        used = {one for label_id in carried for one in (vocabulary.canonical(label_id), *vocabulary.above(label_id))}
        wide = [above for one in scopes for above in vocabulary.above(one)]
        listed = dict.fromkeys(one for one in (*scopes, *wide) if one in vocabulary.by_id)
        return _Known(vocabulary, frozenset(used), tuple(sorted(listed, key=vocabulary.path)))


def _scope_lines(vocabulary: Vocabulary, handles: dict[str, str]) -> str:
    lines = []
    for handle, label_id in handles.items():
        gist = vocabulary.label(label_id).gist.replace(" | ", " · ")
        lines.append(f"{handle} {abridged(vocabulary.path(label_id), 120)}{': ' + abridged(gist, 200) if gist else ''}")
    return "\n".join(lines) or "none"


def _filter(
    vocabulary: Vocabulary,
    reply: QueryLabels,
    handles: dict[str, str],
    events: dict[str, str],
    entities: dict[str, str],
) -> QueryFilter:
    scopes: dict[str, float] = {}
    paths = {fold_name(vocabulary.path(one)): one for one in handles.values()}
    for given in reply.scopes[:_MOST_SCOPES]:
        meant = handles.get(given.strip().split(" ")[0]) if given.strip() else None
        meant = meant or paths.get(fold_name(given))
        if meant is not None:
            scopes[meant] = 1.0
    for meant in list(scopes):
        for below in vocabulary.covering(meant):
            own = vocabulary.canonical(below)
            scopes[own] = max(scopes.get(own, 0.0), _BELOW)
        for above in vocabulary.above(meant):
            scopes.setdefault(above, _ABOVE)
    acts: dict[str, float] = dict.fromkeys(_chosen(reply.events, events), 1.0)
    for meant in list(acts):
        for above in vocabulary.above(meant):
            acts.setdefault(above, _COARSE)
    kinds = dict.fromkeys(_chosen(reply.entities, entities), 1.0)
    named = [vocabulary.path(one) for one, weight in scopes.items() if weight == 1.0]
    notes = [f"the model names {', '.join(named[:4])}"] if named else []
    notes += [f"{len(acts)} event types"] if acts else []
    notes += [f"{len(kinds)} entity types"] if kinds else []
    return QueryFilter(scopes=scopes, events=acts, entities=kinds, note="; ".join(notes))


def _chosen(names: Sequence[str], known: dict[str, str]) -> list[str]:
    """The ids of names that there are; others are dropped, since a wrong filter hides the answer."""
    folded = {fold_name(name): label_id for name, label_id in known.items()}
    coarse = {fold_name(act): fold_name(name) for act, name in type_synonyms("event").items()}
    found = []
    for given in names[: 2 * _MOST_TYPES]:
        if len(given) <= 80 and given.strip():
            name = fold_name(given)
            label_id = folded.get(name) or folded.get(coarse.get(name, ""))
            if label_id is not None:
                found.append(label_id)
    return list(dict.fromkeys(found))[:_MOST_TYPES]
