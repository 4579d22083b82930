"""The contextual intent of a question ``F_q`` by one model call, with names from the user's own vocabularies (STITCH, 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hexamem.agents.labelling.reading import AGENT
from hexamem.agents.labelling.schemas import QueryLabels
from hexamem.agents.labelling.task import abridged
from hexamem.errors import HexamemError
from hexamem.intent.label_names import fold_name
from hexamem.intent.query import QueryFilter
from hexamem.memory_types.labels import LabelKind
from hexamem.models import Budget, CallInput, StructuredCall, UsageMeter
from hexamem.prompts import PromptLoader, load_prompt
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.refining import labels_before, latest_seq, open_scopes
from hexamem.stores.ledger.usage import store_usage
from hexamem.stores.vocabulary import Vocabulary

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method

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
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        notices: Callable[[str, str], None],
        *,
        method: Method,
        budget: Budget,
        prompts: PromptLoader = load_prompt,
    ) -> None:
        self._ledger, self._notices, self._budget = ledger, notices, budget
        self._prompt = prompts("query_intent")
        self._call = StructuredCall(model, QueryLabels, agent=AGENT, method=method)

    def query(self, user: str, text: str, embedded: QueryFilter) -> QueryFilter:
        """The labels that a question names, by one call; those of the classifiers where it brings nothing.

        Args:
            user: whose labels.
            text: the question.
            embedded: what is returned if the model does not answer, or there is nothing to choose from.
        """
        with self._ledger.read(user) as tx:
            end = latest_seq(tx) + 1 if tx.user_id else 0
            vocabulary = Vocabulary(read_labels(tx) if end else ())
            used = vocabulary.with_wider(labels_before(tx, end)) if end else set()
            scopes = vocabulary.with_wider(scope.label_id for scope in open_scopes(tx, end, _SCOPES)) if end else set()
        if not used:
            return embedded

        def names(kind: LabelKind) -> dict[str, str]:
            labels = [vocabulary.label(label_id) for label_id in vocabulary.by_id]
            in_use = {label.name: label.id for label in labels if label.kind == kind and label.id in used}
            return dict(list(in_use.items())[:_TYPES])

        listed = sorted((label_id for label_id in scopes if label_id in vocabulary.by_id), key=vocabulary.path)
        handles = {f"S{number}": label_id for number, label_id in enumerate(listed, 1)}
        events, entities = names("event"), names("entity")
        usage = UsageMeter("query_intent")
        messages = self._prompt.render(
            scopes="\n".join(_line(vocabulary, handle, label_id) for handle, label_id in handles.items()) or "none",
            event_types=", ".join(events) or "none",
            entity_types=", ".join(entities) or "none",
            question=text[:_QUESTION],
        )
        result = self._call.invoke(CallInput(messages=messages, budget=self._budget, usage=usage))
        try:
            store_usage(self._ledger, user, usage.drain())
        except HexamemError as error:  # the answer is right all the same
            self._notices(user, f"the cost of a question's labels could not be noted: {error}")
        if result.value is None:
            for line in result.degraded:
                self._notices(user, f"the labels of a question of user {user!r} were read by the classifiers: {line}")
            return embedded
        return _filter(
            vocabulary,
            _chosen_scopes(vocabulary, result.value.scopes, handles),
            _chosen_types(result.value.events, events),
            _chosen_types(result.value.entities, entities),
        )


def _line(vocabulary: Vocabulary, handle: str, label_id: str) -> str:
    gist = vocabulary.label(label_id).gist.replace(" | ", " · ")
    return f"{handle} {abridged(vocabulary.path(label_id), 120)}{': ' + abridged(gist, 200) if gist else ''}"


def _chosen_scopes(vocabulary: Vocabulary, names: Sequence[str], handles: dict[str, str]) -> list[str]:
    """The ids of the listed scopes that a reply names by handle or path."""
    paths = {fold_name(vocabulary.path(label_id)): label_id for label_id in handles.values()}
    given = [name.strip() for name in names[:_MOST_SCOPES] if name.strip()]
    meant = (handles.get(name.split(" ")[0]) or paths.get(fold_name(name)) for name in given)
    return list(dict.fromkeys(label_id for label_id in meant if label_id is not None))


def _chosen_types(names: Sequence[str], known: dict[str, str]) -> list[str]:
    """The ids of names that there are; others are dropped, since a wrong filter hides the answer."""
    folded = {fold_name(name): label_id for name, label_id in known.items()}
    wanted = [fold_name(name) for name in names[: 2 * _MOST_TYPES] if name.strip() and len(name) <= 80]
    meant = (folded.get(name) for name in wanted)
    return list(dict.fromkeys(label_id for label_id in meant if label_id is not None))[:_MOST_TYPES]


def _filter(
    vocabulary: Vocabulary, scopes: Sequence[str], events: Sequence[str], entities: Sequence[str]
) -> QueryFilter:
    """The weights of the labels that are meant, and of those above and below them."""
    scope_weights = dict.fromkeys(scopes, 1.0)
    for meant in scopes:
        for below in map(vocabulary.canonical, vocabulary.covering(meant)):
            scope_weights[below] = max(scope_weights.get(below, 0.0), _BELOW)
        for above in vocabulary.above(meant):
            scope_weights.setdefault(above, _ABOVE)
    event_weights = dict.fromkeys(events, 1.0)
    for above in (above for meant in events for above in vocabulary.above(meant)):
        event_weights.setdefault(above, _COARSE)
    notes = [f"the model names {', '.join(map(vocabulary.path, scopes[:4]))}"] if scopes else []
    notes += [f"{len(event_weights)} event types"] if events else []
    notes += [f"{len(entities)} entity types"] if entities else []
    return QueryFilter(
        scopes=scope_weights, events=event_weights, entities=dict.fromkeys(entities, 1.0), note="; ".join(notes)
    )
