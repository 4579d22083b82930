"""The contextual intent of a question ``F_q`` by one model call, with names from the user's own vocabularies (STITCH, 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from hexamem.agents.labelling.schemas import QueryLabels
from hexamem.agents.labelling.task import abridged
from hexamem.errors import HexamemError
from hexamem.intent.label_names import fold_name, type_synonyms
from hexamem.intent.query import QueryFilter
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
        vocabulary, used, scopes = self._known(user)
        if not used:
            return embedded
        handles = {f"S{number}": label_id for number, label_id in enumerate(scopes, 1)}
        events, entities = (_names(vocabulary, used, kind) for kind in ("event", "entity"))
        usage = UsageMeter("query_intent")
        result = self._call.invoke(
            CallInput(
                messages=self._prompt.render(
                    scopes="\n".join(_line(vocabulary, handle, one) for handle, one in handles.items()) or "none",
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
        return _filter(vocabulary, result.value, handles, events, entities)

    def _known(self, user: str) -> tuple[Vocabulary, set[str], list[str]]:
        """The labels, the ids of those that steps carry with the wider ones, and the scopes to be listed, by path."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return Vocabulary(()), set(), []
            end = latest_seq(tx) + 1
            vocabulary, carried = Vocabulary(read_labels(tx)), labels_before(tx, end)
            scopes = vocabulary.with_wider(one.label_id for one in open_scopes(tx, end, _SCOPES))
        listed = sorted((one for one in scopes if one in vocabulary.by_id), key=vocabulary.path)
        return vocabulary, vocabulary.with_wider(carried), listed


def _names(vocabulary: Vocabulary, used: Collection[str], kind: str) -> dict[str, str]:
    """Name → id of the labels of a kind that are in use, wide ones too."""
    labels = (vocabulary.label(label_id) for label_id in vocabulary.by_id)
    found = {one.name: one.id for one in labels if one.kind == kind and one.id in used}
    return dict(list(found.items())[:_TYPES])


def _line(vocabulary: Vocabulary, handle: str, label_id: str) -> str:
    gist = vocabulary.label(label_id).gist.replace(" | ", " · ")
    return f"{handle} {abridged(vocabulary.path(label_id), 120)}{': ' + abridged(gist, 200) if gist else ''}"


def _filter(
    vocabulary: Vocabulary,
    reply: QueryLabels,
    handles: dict[str, str],
    events: dict[str, str],
    entities: dict[str, str],
) -> QueryFilter:
    paths = {fold_name(vocabulary.path(one)): one for one in handles.values()}
    given = (one.strip() for one in reply.scopes[:_MOST_SCOPES])
    found = (handles.get(one.split(" ")[0]) or paths.get(fold_name(one)) for one in given if one)
    named = list(dict.fromkeys(one for one in found if one is not None))
    scopes = dict.fromkeys(named, 1.0)
    for meant in named:
        for below in vocabulary.covering(meant):
            own = vocabulary.canonical(below)
            scopes[own] = max(scopes.get(own, 0.0), _BELOW)
        for above in vocabulary.above(meant):
            scopes.setdefault(above, _ABOVE)
    chosen = _chosen(reply.events, events)
    acts = dict.fromkeys(chosen, 1.0)
    for above in (one for meant in chosen for one in vocabulary.above(meant)):
        acts.setdefault(above, _COARSE)
    kinds = dict.fromkeys(_chosen(reply.entities, entities), 1.0)
    notes = [f"the model names {', '.join(map(vocabulary.path, named[:4]))}"] if named else []
    notes += [f"{len(acts)} event types"] if acts else []
    notes += [f"{len(kinds)} entity types"] if kinds else []
    return QueryFilter(scopes=scopes, events=acts, entities=kinds, note="; ".join(notes))


def _chosen(names: Sequence[str], known: dict[str, str]) -> list[str]:
    """The ids of names that there are; others are dropped, since a wrong filter hides the answer."""
    folded = {fold_name(name): label_id for name, label_id in known.items()}
    coarse = {fold_name(act): fold_name(name) for act, name in type_synonyms("event").items()}
    wanted = [fold_name(one) for one in names[: 2 * _MOST_TYPES] if one.strip() and len(one) <= 80]
    found = (folded.get(name) or folded.get(coarse.get(name, "")) for name in wanted)
    return list(dict.fromkeys(one for one in found if one is not None))[:_MOST_TYPES]
