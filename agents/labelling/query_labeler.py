"""The contextual intent of a question (``F_q`` of STITCH, 3.3) by one model call, from the user's own vocabularies."""

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

_LISTED_SCOPES, _LISTED_TYPES = 60, 150  # in the prompt
_LONGEST_QUESTION = 2_000  # characters
_MOST_SCOPES, _MOST_TYPES = 6, 4  # that a reply may choose
_BELOW, _ABOVE, _COARSE = (
    0.8,
    0.3,
    0.6,
)  # weights of narrower and wider scopes, and of coarse event types; chosen ones: 1


class ModelQueryLabeler:
    """Finds the labels that a question names with a chat model. Thread-safe.

    Args:
        ledger: where the labels are read and the cost of the call is written.
        model: the chat model.
        notices: called with the user and one line for each fallback to the classifiers.
        method: how the schema of the reply is sent.
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
        """The labels that a question names, by one call; those of the classifiers where there is no reply.

        Args:
            user: the user whose labels are listed.
            text: the question.
            embedded: returned where there is no reply, or no label is in use.
        """
        with self._ledger.read(user) as tx:
            end = latest_seq(tx) + 1 if tx.user_id else 0
            vocabulary = Vocabulary(read_labels(tx) if end else ())
            used = vocabulary.with_wider(labels_before(tx, end)) if end else set()
            scopes = (
                vocabulary.with_wider(scope.label_id for scope in open_scopes(tx, end, _LISTED_SCOPES))
                if end
                else set()
            )
        if not used:
            return embedded

        def names(kind: LabelKind) -> dict[str, str]:
            labels = [vocabulary.label(label_id) for label_id in vocabulary.by_id]
            in_use = {label.name: label.id for label in labels if label.kind == kind and label.id in used}
            return dict(list(in_use.items())[:_LISTED_TYPES])

        listed = sorted((label_id for label_id in scopes if label_id in vocabulary.by_id), key=vocabulary.path)
        handles = {f"S{number}": label_id for number, label_id in enumerate(listed, 1)}
        events, entities = names("event"), names("entity")
        usage = UsageMeter("query_intent")
        messages = self._prompt.render(
            scopes="\n".join(_line(vocabulary, handle, label_id) for handle, label_id in handles.items()) or "none",
            event_types=", ".join(events) or "none",
            entity_types=", ".join(entities) or "none",
            question=text[:_LONGEST_QUESTION],
        )
        result = self._call.invoke(CallInput(messages=messages, budget=self._budget, usage=usage))
        try:
            store_usage(self._ledger, user, usage.drain())
        except HexamemError as error:  # the reply is valid all the same
            self._notices(user, f"the cost of a question's labels could not be stored: {error}")
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
    """The ids of the listed scopes in a reply, by handle or path."""
    paths = {fold_name(vocabulary.path(label_id)): label_id for label_id in handles.values()}
    stripped = [name.strip() for name in names[:_MOST_SCOPES] if name.strip()]
    label_ids = (handles.get(name.split(" ")[0]) or paths.get(fold_name(name)) for name in stripped)
    return list(dict.fromkeys(label_id for label_id in label_ids if label_id is not None))


def _chosen_types(names: Sequence[str], known: dict[str, str]) -> list[str]:
    """The ids of known names; unknown ones are dropped, since a wrong filter hides the answer."""
    folded = {fold_name(name): label_id for name, label_id in known.items()}
    wanted = [fold_name(name) for name in names[: 2 * _MOST_TYPES] if name.strip() and len(name) <= 80]
    label_ids = (folded.get(name) for name in wanted)
    return list(dict.fromkeys(label_id for label_id in label_ids if label_id is not None))[:_MOST_TYPES]


def _filter(
    vocabulary: Vocabulary, scopes: Sequence[str], events: Sequence[str], entities: Sequence[str]
) -> QueryFilter:
    """The weights of the chosen labels, and of the wider and narrower ones."""
    scope_weights = dict.fromkeys(scopes, 1.0)
    for chosen in scopes:
        for below in map(vocabulary.canonical, vocabulary.covering(chosen)):
            scope_weights[below] = max(scope_weights.get(below, 0.0), _BELOW)
        for above in vocabulary.above(chosen):
            scope_weights.setdefault(above, _ABOVE)
    event_weights = dict.fromkeys(events, 1.0)
    for above in (above for chosen in events for above in vocabulary.above(chosen)):
        event_weights.setdefault(above, _COARSE)
    notes = [f"the model names {', '.join(map(vocabulary.path, scopes[:4]))}"] if scopes else []
    notes += [f"{len(event_weights)} event types"] if events else []
    notes += [f"{len(entities)} entity types"] if entities else []
    return QueryFilter(
        scopes=scope_weights, events=event_weights, entities=dict.fromkeys(entities, 1.0), note="; ".join(notes)
    )
