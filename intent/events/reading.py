"""Which act a text performs: its cues summed over the sentences, its form, and what the step before calls for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..contract import StepView
from ..phrases.tokens import END, NUMBER, Tokens
from .context import (
    FACTS,
    OFFERED,
    OPTIONS,
    answer_bonus,
    echoes,
    imperatives,
    is_argument,
    is_speech,
    structure,
    word_count,
)
from .cues import COARSE, CUES
from .facts import introduces_self, states_fact

__all__ = ["Reading", "read_act"]


@dataclass(slots=True)
class Reading:
    """What the rules make of one text.

    Attributes:
        scores: coarse type → score.
        main: the coarse type with the highest.
        target: the entity type that the act is about; ``topic`` is the thing that the talk is about.
        asks: whether it ends by asking; ``options`` whether for things to choose from.
        pending: for how many more steps a proposal of ``proposer`` waits for a decision.
        closed: whether it takes up a decision of the other, after which something new begins.
        weighs: whether it asks to weigh one thing against another, which the next step may answer.
        words: its keys where it is not long, for what echoes them.
        by_sentence: what each sentence adds to the main type.
    """

    scores: dict[str, float]
    main: str
    target: str | None = None
    topic: str | None = None
    asks: bool = False
    options: bool = False
    pending: int = 0
    proposer: str = ""
    closed: bool = False
    weighs: bool = False
    words: frozenset[str] = frozenset()
    by_sentence: dict[int, float] = field(default_factory=dict)


# What is left of an act's cues where the sentence is a question.
_IN_QUESTION = {"ask": 1.0, "compare": 1.0, "propose": 0.8, "request": 1.0, "plan": 1.0, "social": 1.0, "summarize": 1.0,
                "rebut": 0.8, "evidence": 0.8, "problem": 0.7, "claim": 0.5, "revise": 1.0, "constrain": 0.4, "resume": 1.0}  # fmt: skip
# What is left of an act's cues in an argument, whose words are often those of other acts.
_IN_ARGUMENT = {"decide": 0.2, "revise": 0.2, "report": 0.2, "share": 0.2, "social": 0.3, "evaluate": 0.3, "problem": 0.2,
                "request": 0.3, "inform": 0.4, "propose": 0.4, "plan": 0.6, "correct": 0.4}  # fmt: skip
# What acts are in a short exchange of an argument: what one demands of the other side is a challenge.
_BETWEEN_SIDES = {"request": "ask", "problem": "rebut", "constrain": "evidence"}
_ARGUING = frozenset(("claim", "evidence", "rebut"))
# Acts that open something of their own: who does one of them does not just take up what was said.
_OPENING = ("request", "problem", "plan", "constrain", "revise", "report", "ask", "propose", "compare", "inform")
_WISHES = ("request", "constrain", "revise", "problem")  # what who serves seldom does for itself
_TERSE = 6  # the same among several people, who speak more freely
_BRIEF = 9  # words up to which a step may be no more than a word on the one before
_BY_QUESTION = frozenset(("propose", "request", "compare", "plan"))  # what a question may do beside asking
_GREETING = 15  # keys up to which a step may be nothing but thanks or a greeting
_DECIDABLE = frozenset(("Ask", "Propose", "Compare", "Decide", "Revise", "Plan", "Request"))
_PENDING = 5  # steps for which a proposal waits for a decision
_REPEATED = 0.85  # each further cue of an act counts so much of the one before: a long text repeats itself


def read_act(
    step: StepView, tokens: Tokens, types: Sequence[str], before: Reading | None, previous: StepView | None
) -> Reading:
    """Read what a text does.

    Args:
        step: the step.
        tokens: its text.
        types: the names of the entity types seen in it, one a place.
        before: what the step before it does, where there is one.
        previous: that step.
    """
    found = [
        (act, weight, tokens.sentence_of(match.first), match.first)
        for match in CUES.find(tokens)
        for act, weight in match.payload
    ]
    argument = is_argument(step, len(tokens.questions), [entry[0] for entry in found])
    speech = argument and is_speech(tokens)
    acts: defaultdict[str, float] = defaultdict(float)
    served = "assistant" in (step.role, previous.role if previous is not None else "")
    due = served or (before is not None and (before.pending > 0 or before.main in _DECIDABLE))
    placed = _sum_cues(acts, found, tokens, argument, speech, due)
    if step.role == "assistant" and not argument:
        for act in _WISHES:
            acts[act] *= 0.3
    for act, value in structure(step, tokens, sum(name == "Price" for name in types), argument, speech):
        acts[act] += value
    if served and not argument and step.role != "assistant" and len(tokens.questions) <= 8 and imperatives(tokens):
        acts["request"] += 1.8  # who is served says so what is to be done
    asks, options = _question(tokens, types, before, acts)
    told = not argument and not asks and step.role != "assistant" and acts["decide"] < 2.0
    told = told and (introduces_self(step.text) or states_fact(step.text))
    if not argument:
        _weigh_alternatives(acts, tokens, before)
    if before is not None and previous is not None and previous.speaker != step.speaker:
        options |= _answer(acts, step, tokens, types, before, asks, argument, speech, previous.role)
    if told:
        acts["decide"] = acts["social"] = 0.0  # what is the case, and who one is, settles nothing
        acts["inform"] += 1.5
    if (
        len(tokens.keys) > _GREETING
        and max((value for act, value in acts.items() if act != "social"), default=0.0) >= 0.7
    ):
        acts["social"] *= 0.3  # thanks and greetings open and close what a longer step does
    if not argument:
        if word_count(tokens) > _BRIEF:
            acts["confirm"] *= 0.15  # a longer step that opens with "right" goes on to do more
        if acts["revise"] >= 2.0:
            acts["constrain"] *= 0.3  # a new value for what had one
    resumed = acts.pop("resume", 0.0)
    if resumed and max(acts.values(), default=0.0) < 1.5:
        acts["plan"] += resumed  # going back to something opens it where nothing else is done
    if max(acts.values(), default=0.0) < 0.5:
        acts["inform"] += 1.0
    scores: defaultdict[str, float] = defaultdict(float)
    for act, value in acts.items():
        scores[COARSE[act]] += value
    main = max(scores, key=scores.__getitem__)
    by_sentence: defaultdict[int, float] = defaultdict(float)
    for act, value, sentence in placed:
        if COARSE[act] == main:
            by_sentence[sentence] += value
    reading = Reading(scores=dict(scores), main=main, asks=asks, options=options, by_sentence=dict(by_sentence))
    reading.weighs = (
        main == "Compare" and (asks or step.role != "assistant") and not (before is not None and before.weighs)
    )
    if len(tokens.keys) < 200:
        reading.words = frozenset(tokens.keys)
    _keep_open(reading, step, before, previous)
    return reading


def _sum_cues(
    acts: defaultdict[str, float],
    found: Sequence[tuple[str, float, int, int]],
    tokens: Tokens,
    argument: bool,
    speech: bool,
    due: bool,
) -> list[tuple[str, float, int]]:
    """Add up cues and questions per act; gives each with its value and sentence."""
    last = len(tokens.questions) - 1
    fresh: defaultdict[str, float] = defaultdict(lambda: 1.0)
    offered: defaultdict[int, float] = defaultdict(
        float
    )  # sentence → its strongest cue of an act that a question may do
    ended = tokens.keys[-1:] == [END]
    placed = []
    for found_act, weight, sentence, place in found:
        act = _BETWEEN_SIDES.get(found_act, found_act) if argument and not speech else found_act
        asked = tokens.questions[sentence]
        if (
            act == "ask"
            and weight <= 1.0
            and not asked
            and (ended or sentence < last or place != tokens.sentences[last])
        ):
            continue  # a relative clause, or no question
        value = weight * (1.5 if sentence in (0, last) else 1.0)
        if asked:
            value *= _IN_QUESTION.get(act, 0.3)
            if act in _BY_QUESTION:
                offered[sentence] = max(offered[sentence], weight)
        if act == "decide" and weight <= 1.0 and not due:
            value *= 0.3  # "great", where nothing waits for a decision, is a kind word
        if speech:
            value *= _IN_ARGUMENT.get(act, 1.0)
        elif act in _ARGUING and not argument:
            if weight <= 1.2:
                continue  # outside of an argument, "but" and "because" are everyday words
            value *= 0.6
        acts[act] += value * fresh[act]
        fresh[act] *= _REPEATED
        placed.append((act, value, sentence))
    for sentence, asked in enumerate(tokens.questions):
        if asked:
            value = 2.5 if sentence == last else (1.0 if argument else 1.7)
            value *= 0.3 if offered[sentence] >= 1.5 else 1.0
            acts["ask"] += value * fresh["ask"]
            fresh["ask"] *= _REPEATED
            placed.append(("ask", value, sentence))
    return placed


def _question(
    tokens: Tokens, types: Sequence[str], before: Reading | None, acts: defaultdict[str, float]
) -> tuple[bool, bool]:
    """Whether a step ends by asking, and whether it asks for things to choose from."""
    last = len(tokens.questions) - 1
    asks = any(tokens.questions[last:]) or (any(tokens.questions[-2:]) and acts["decide"] < 2.0)
    if not asks:
        return False, False
    options = any(tokens.questions[tokens.sentence_of(match.first)] for match in OPTIONS.find(tokens))
    if not options and (before is None or not before.pending) and not OFFERED.isdisjoint(types):
        options = next(FACTS.find(tokens), None) is None  # something new is asked for, and no fact about it
    return True, options


def _weigh_alternatives(acts: defaultdict[str, float], tokens: Tokens, before: Reading | None) -> None:
    """ "The tower or the boat?" compares where both were proposed; elsewhere it is hardly more than a question."""
    for sentence, asked in enumerate(tokens.questions):
        if asked:
            end = tokens.sentences[sentence + 1] if sentence + 1 < len(tokens.questions) else len(tokens.keys)
            if "or" in tokens.keys[tokens.sentences[sentence] : end]:
                acts["compare"] += 4.5 if before is not None and before.pending else 1.0


def _answer(
    acts: defaultdict[str, float],
    step: StepView,
    tokens: Tokens,
    types: Sequence[str],
    before: Reading,
    asks: bool,
    argument: bool,
    speech: bool,
    asked_as: str,
) -> bool:
    """Add what the step of another before calls for; gives whether a need was named that calls for proposals."""
    need = False
    reach = 1.0 + len(tokens.questions) / 6 if argument else 1.0
    options = before.options and (step.role == "assistant" or asked_as != "assistant")
    brief = word_count(tokens) <= _BRIEF and not any(tokens.questions)
    for act, value in answer_bonus(before.main, before.closed, before.asks, options, asks, speech):
        if (act == "decide" and argument) or (act == "propose" and brief and not before.asks):
            continue  # a debater does not take up what the other side decided; a short word proposes nothing
        acts[act] += value * reach
    if speech:
        return False
    if before.weighs:
        acts["compare"] += 3.5
    own = max([acts[act] for act in _OPENING])
    if brief and not before.asks and not before.weighs:
        if before.main == "Socialize":
            acts["social"] += 2.0
        elif argument:
            if acts["confirm"] + acts["agree"] < 1.5 and own < 2.0:
                acts["rebut"] += 2.0  # the other side's short word, unless it gives in
        elif before.main not in ("Confirm", "Propose", "Ask") and (step.role == "assistant" or asked_as != "assistant"):
            known = echoes(tokens, before.words)
            terse = step.role == "assistant" or word_count(tokens) <= _TERSE
            if terse and (own < 2.0 or known) and (NUMBER not in tokens.keys or NUMBER in before.words):
                acts["confirm"] += 3.5
    if argument:
        return False
    if (
        brief
        and step.role != "assistant"
        and not before.asks
        and not before.pending
        and NUMBER in tokens.keys
        and max(acts.values(), default=0.0) < 1.5
    ):
        acts["constrain"] += 0.9  # a few words with a figure that nobody asked for: "ten thirty sharp", "three weeks"
    strong = max([acts[act] for act in ("request", "revise", "constrain", "problem", "plan")])
    if NUMBER not in tokens.keys:
        strong = max(strong, acts["social"])
    if step.role == "user" and ((before.asks and asked_as == "assistant") or before.pending == _PENDING) and not asks:
        acts["decide"] += acts["confirm"]  # "yes" to an offer settles it
        acts["confirm"] = 0.0
    if step.role == "assistant" and before.main in ("Decide", "Revise"):
        acts["propose"] *= 0.5  # what was settled may be told with all its figures
    if before.pending and step.speaker != before.proposer:
        if not asks:
            acts["decide"] += 3.5 if strong < 2.0 else 1.0  # who does not ask about what was proposed takes it up
    elif (
        before.topic in OFFERED and step.role == "user" and len(tokens.keys) < 25 and max(acts.values(), default=0) < 1
    ):
        acts["decide"] += 1.2  # a few words, no question, on a thing to choose: "the blue one, at eight"
    if before.closed and step.role == "user" and not before.pending:
        if "Itinerary" in types:
            acts["plan"] += (
                0.0 if acts["resume"] else 2.0
            )  # one exchange is closed: a day that is named now opens the next
        elif not OFFERED.isdisjoint(types) and acts["decide"] < 2.0 and acts["ask"] == 0:
            acts["ask"] += 2.0
            need = True
    if before.asks and step.role == "assistant":
        acts["decide"] *= 0.4  # an answer informs, whatever words it does it in
    if before.main == "Plan":
        acts["plan"] *= 0.4  # the plan is taken up by what is said about it
    return need


def _keep_open(reading: Reading, step: StepView, before: Reading | None, previous: StepView | None) -> None:
    """Follow whether a proposal waits for a decision, and whether a decision was taken up."""
    if reading.main in ("Propose", "Compare"):
        reading.pending, reading.proposer = _PENDING, step.speaker
        if before is not None and reading.main == "Compare" and before.pending:
            reading.proposer = before.proposer
    elif before is not None and reading.main not in ("Decide", "Plan", "Confirm"):
        reading.pending, reading.proposer = max(0, before.pending - 1), before.proposer
    if before is not None and previous is not None and previous.speaker != step.speaker:
        reading.closed = reading.main == "Confirm" or (
            reading.main == "Decide" and before.main in ("Decide", "Revise") and not before.closed
        )
