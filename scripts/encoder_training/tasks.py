"""What the network is trained on: batches of each task, and their losses.

retrieval    a conversation's questions against its turns: each piece of evidence against all that is no evidence
             (multi-positive softmax, temperature 0.05), negatives hard by the current model and others by chance
hop          the same with the question's vector moved by the evidence that is known: the rest is to be retrieved
sentences    the subject of each sentence of a message, from the tokens of its span; as auxiliary tasks, whose heads are not
             exported, its memory types, whether it says when, and its attribute
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, normalize

from encoder_training.corpus import Conversation, Message, Part, Question
from encoder_training.network import SCALE, TYPES, Network

TEMPERATURE = 0.05
_QUESTIONS, _CANDIDATES, _FIRST, _HARD, _LUCKY = 24, 96, 40, 3, 1
_MESSAGES = 12
_HOP_WEIGHT = 0.5


class Tasks:
    """Batches of all tasks over one part of the corpus."""

    def __init__(self, part: Part, network: Network) -> None:
        self.part, self.network = part, network
        self._turns = {c.name: network.ids(c.turns) for c in part.conversations}
        self._asked = {c.name: network.ids([q.text for q in c.questions]) for c in part.conversations}
        self._vectors: dict[str, Tensor] = {}

    def mine(self) -> None:
        """Embed all turns by the network as it is, for the choice of hard negatives."""
        self.network.eval()
        with torch.no_grad():
            self._vectors = {name: self.network.vectors(ids, size=64) for name, ids in self._turns.items()}
        self.network.train()

    def epoch(self) -> Iterator[tuple[str, Tensor]]:
        """One pass over all questions, with a batch of sentences beside each: task and loss."""
        batches = []
        for conversation in self.part.conversations:
            places = [place for place, question in enumerate(conversation.questions) if question.evidence]
            random.shuffle(places)
            batches += [(conversation, places[i : i + _QUESTIONS]) for i in range(0, len(places), _QUESTIONS)]
        random.shuffle(batches)
        messages = self._endless(self.part.messages, _MESSAGES)
        for conversation, places in batches:
            yield "retrieval", self._retrieval(conversation, places)
            yield "sentences", self._sentences(next(messages))

    @staticmethod
    def _endless(values: Sequence[Any], size: int) -> Iterator[list[Any]]:
        while True:
            order = random.sample(list(values), len(values))
            for start in range(0, len(order) - size + 1, size):
                yield order[start : start + size]

    def batches(self) -> int:
        """How many steps an epoch takes, all tasks together."""
        sizes = [sum(bool(q.evidence) for q in c.questions) for c in self.part.conversations]
        retrieval = sum(-(-size // _QUESTIONS) for size in sizes)
        return retrieval * 2

    # ------------------------------------------------------------------ retrieval and second hop

    def _retrieval(self, conversation: Conversation, places: Sequence[int]) -> Tensor:
        network, turns = self.network, self._turns[conversation.name]
        questions = [conversation.questions[place] for place in places]
        asked = [self._asked[conversation.name][place] for place in places]
        candidates = self._candidates(conversation.name, questions, asked)
        at = {turn: column for column, turn in enumerate(candidates)}
        rows = network.vectors([turns[turn] for turn in candidates])
        vectors = network.vectors(asked)
        scores = vectors @ rows.T / TEMPERATURE
        loss = torch.stack(
            [listwise(scores[i], [at[turn] for turn in q.evidence]) for i, q in enumerate(questions)]
        ).mean()
        several = [(i, q) for i, q in enumerate(questions) if len(q.evidence) > 1]
        if not several:
            return loss
        known = [random.choice(q.evidence[:2]) for _, q in several]
        moved = network.hop(vectors[[i for i, _ in several]], rows[[at[turn] for turn in known]])
        hops = moved @ rows.T / TEMPERATURE
        losses = []
        for row, ((_, question), seen) in enumerate(zip(several, known, strict=True)):
            rest = [at[turn] for turn in question.evidence if turn != seen]
            losses.append(listwise(hops[row], rest, without=at[seen]))
        return loss + _HOP_WEIGHT * torch.stack(losses).mean()

    def _candidates(self, name: str, questions: Sequence[Question], asked: Sequence[list[int]]) -> list[int]:
        with torch.no_grad():
            ranked = (self.network.vectors(asked) @ self._vectors[name].T).argsort(dim=1, descending=True)
        chosen = dict.fromkeys(turn for question in questions for turn in question.evidence)
        for question, order in zip(questions, ranked[:, :_FIRST].tolist(), strict=True):
            wrong = [turn for turn in order if turn not in question.evidence]
            lucky = random.sample(wrong[_HARD:], min(_LUCKY, len(wrong[_HARD:])))
            chosen.update(dict.fromkeys([*wrong[:_HARD], *lucky]))
        evidence = {turn for question in questions for turn in question.evidence}
        rest = [turn for turn in chosen if turn not in evidence]
        random.shuffle(rest)
        wanted = max(_CANDIDATES * len(questions) // _QUESTIONS, len(evidence))
        chosen = [*evidence, *rest][:wanted]
        others = list(set(range(len(self._turns[name]))) - set(chosen))
        return chosen + random.sample(others, min(len(others), wanted - len(chosen)))

    # ------------------------------------------------------------------ sentences

    def _sentences(self, messages: Sequence[Message]) -> Tensor:
        spans, tokens, wanted, subjects, attributes = self.read_sentences(messages)
        types = binary_cross_entropy_with_logits(self.network.types(SCALE * spans), wanted)
        has_name = [row for row, marks in enumerate(subjects) if marks is not None]
        loss = len(TYPES) * types
        if has_name:
            pointed = [listwise(self.network.subject(tokens[row]).squeeze(-1), subjects[row] or []) for row in has_name]
            loss = loss + 0.2 * torch.stack(pointed).mean()
        named = [row for row, attribute in enumerate(attributes) if attribute >= 0]
        if named:
            target = torch.tensor([attributes[row] for row in named], device=spans.device)
            loss = loss + 0.1 * cross_entropy(self.network.attribute(SCALE * spans[named]), target)
        return loss

    def read_sentences(
        self, messages: Sequence[Message]
    ) -> tuple[Tensor, list[Tensor], Tensor, list[list[int] | None], list[int]]:
        """Span vectors ``(n, d)``, token states of each span, labels ``(n, 7)``, subject tokens, attribute numbers."""
        network = self.network
        encodings = network.tokenizer.encode_batch([message.text for message in messages])
        ids = [
            encoding.ids if len(encoding.ids) <= network.tokens else encoding.ids[: network.tokens]
            for encoding in encodings
        ]
        states, _ = network.states(ids)
        spans, tokens, labels, subjects, attributes = [], [], [], [], []
        for row, (message, encoding) in enumerate(zip(messages, encodings, strict=True)):
            offsets = encoding.offsets[: len(ids[row])]
            for sentence in message.sentences:
                inside = [
                    place
                    for place, (start, end) in enumerate(offsets)
                    if start < sentence.end and end > sentence.start and end > start
                ]
                if not inside:
                    continue
                span = states[row, inside]
                tokens.append(span)
                spans.append(normalize(span.mean(0), dim=-1))
                labels.append([float(kind in sentence.types) for kind in TYPES] + [float(sentence.dated)])
                position = (
                    message.text.lower().find(sentence.subject.lower(), sentence.start) if sentence.subject else -1
                )
                inside_name = 0 <= position < sentence.end and sentence.subject != "self"
                marks = [
                    column
                    for column, place in enumerate(inside)
                    if offsets[place][0] < position + len(sentence.subject) and offsets[place][1] > position
                ]
                subjects.append(marks if inside_name and marks else None)
                known = sentence.attribute in network.attributes
                attributes.append(network.attributes.index(sentence.attribute) if known else -1)
        device = states.device
        return torch.stack(spans), tokens, torch.tensor(labels, device=device), subjects, attributes


def listwise(scores: Tensor, wanted: Sequence[int], without: int | None = None) -> Tensor:
    """Mean over the wanted places of their cross-entropy against all that are not wanted."""
    other = torch.ones(len(scores), dtype=torch.bool, device=scores.device)
    other[list(wanted)] = False
    if without is not None:
        other[without] = False
    rest = torch.logsumexp(scores[other], 0) if other.any() else scores.new_tensor(-1e4)
    return torch.stack([torch.logaddexp(scores[place], rest) - scores[place] for place in wanted]).mean()
