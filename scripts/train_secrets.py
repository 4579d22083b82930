"""Train the tagger of secrets on ``evals/corpus/secrets``, or measure it.

    python scripts/train_secrets.py                    writes stores/secrets/weights/tagger.npz, in some minutes
    python scripts/train_secrets.py --start FILE       the same, from the networks of this file, in fewer epochs
    python scripts/train_secrets.py --folds 5          secrets found and look-alikes taken in parts that were left out
    python scripts/train_secrets.py --measure heldout_secrets.json heldout_lookalikes.json
                                                       counts by the weights that ship; no text is shown

Sealed files are never read in order to train; the validation files only choose the threshold. Besides the messages it trains on
sentence frames whose slots are filled anew in each epoch (``secret_frames.py``), on the messages with other values of like form
in place of their secrets and numbers, on turns of the corpus's conversations without a word of secrets, on documentation and
programs of this repository (as it is then), and on tables, lists and odd characters. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from secret_frames import Message, expand, odd_text

from hexamem.evals.sealed import CORPUS, open_files
from hexamem.stores.secrets import detection, find_secrets
from hexamem.stores.secrets.captions import NOUNS
from hexamem.stores.secrets.tagger import NETWORKS, REACHES, NetworkWeights, Tagger, read_tagger_weights
from hexamem.stores.secrets.token_features import (
    BUCKETS,
    MARGIN,
    PLACES,
    TokenizedTexts,
    position_rows,
    tokenize,
    touch_rows,
    word_features,
)

ROOT = Path(__file__).resolve().parent.parent
SECRETS = CORPUS / "secrets"
FRAMES = SECRETS / "frames.json"
TARGET = ROOT / "stores" / "secrets" / "weights" / "tagger.npz"
STATIC = ROOT / "stores" / "embedders" / "static_model"
KINDS = tuple(sorted(NOUNS))
VECTOR, MEANING, HIDDEN = 24, 32, 64
BATCH, SEED = 128, 7
HELD_OUT = 3000  # of the ordinary talk: for choosing the threshold
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995)
CUES = re.compile(
    r"passw|passc|passp|\bp[iw]n?\b|code|\bkeys?\b|token|密码|密碼|口令|暗号|account|log ?in|cvc|cvv|locker|combin|secret|alarm|wi-?fi|账号"
    r"|验证码|\bpw|iban|licen[cs]e|号|door|gate\b|\bsafe\b|\block|门|門|router|insurance|aadhaar|sort|contraseña|senha|security|unlock"
    r"|\bpuk\b|\bssn\b|驾照|护照",
    re.IGNORECASE,
)
"""A text with one of these may hold a secret that nobody has marked: it is not used as ordinary talk."""
TALK_FOLDERS = ("open", "sentences", "supersession", "trajectories", "dates", "other_forms", ".")
UNUSUAL = re.compile(r"\d|\w[-_]\w")


class Plan(NamedTuple):
    """How long a network is trained, and how many texts of each sort an epoch has besides the messages."""

    epochs: int
    rate: float
    copies: int  # of each frame
    talk: int
    unusual_talk: int
    odd: int
    documents: int


ANEW = Plan(11, 4e-3, 3, 8000, 8000, 1500, 1500)
CONTINUED = Plan(3, 1e-3, 2, 8000, 8000, 1500, 1500)
"""From weights that exist; messages of later briefs (``brief_*``), which those weights have not seen, are shown twice."""


def read_messages(files: Sequence[Path]) -> list[Message]:
    """The messages of files of ``evals/corpus/secrets``."""
    return [
        Message(
            message["text"],
            message.get("before", ""),
            tuple((secret["start"], secret["end"], secret["kind"]) for secret in message.get("secrets") or ()),
            tuple((start, end) for start, end in message.get("about") or ()),
        )
        for file in files
        for message in json.loads(file.read_text(encoding="utf-8"))["messages"]
    ]


def ordinary_talk() -> list[Message]:
    """Texts of the rest of the corpus without a word of secrets, shuffled."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for part in value:
                yield from strings(part)
        elif isinstance(value, str):
            yield value[:600]

    texts: set[str] = set()
    for folder in TALK_FOLDERS:
        for file in (*open_files(folder), *open_files(folder, "*.jsonl")):
            content = file.read_text(encoding="utf-8")
            lines = content.splitlines() if file.suffix == ".jsonl" else [content]
            texts.update(text for line in lines if line.strip() for text in strings(json.loads(line)))
    talk = sorted(text for text in texts if len(text) > 8 and not CUES.search(text))
    random.Random(SEED).shuffle(talk)
    return [Message(text, "", ()) for text in talk]


def documents() -> list[Message]:
    """Pieces of this repository's documentation and programs without a word of secrets, shuffled."""
    files = [
        file
        for folder in ("docs", "agents", "graphs", "retrieval", "memory_types")
        for file in (ROOT / folder).rglob("*")
    ]
    pieces: list[str] = []
    for file in sorted(file for file in files if file.suffix in {".md", ".py"}):
        lines = file.read_text(encoding="utf-8").splitlines()
        pieces += ["\n".join(lines[at : at + 4]) for at in range(0, len(lines), 4)]
    made = [Message(piece, "", ()) for piece in pieces if piece.strip() and not CUES.search(piece)]
    random.Random(SEED).shuffle(made)
    return made


def brief_of(file: Path) -> str:
    """What the messages of a file were written for: those with secrets and their look-alikes are left out together."""
    return file.stem.removeprefix("lookalikes_")


class Vocabulary:
    """The words of the static embedder with the main directions of their vectors, and everyday words among them."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file

        vocabulary = json.loads((STATIC / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        words = [word for word in vocabulary if word.isalpha() and (len(word) > 1 or not word.isascii())]
        model = load_file(STATIC / "model.safetensors")["embeddings"]
        rows = model[[vocabulary[word] for word in words]].astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9
        rows -= rows.mean(0)
        directions = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :MEANING]
        meanings = rows @ directions
        meanings /= np.linalg.norm(meanings, axis=1, keepdims=True) + 1e-9
        hashes = np.array([crc32(word.encode()) for word in words], np.uint32)
        order = np.argsort(hashes)
        self.hashes = hashes[order]
        self.meanings = meanings[order].astype(np.float32) * np.float32(1.5)
        self.everyday = [
            word
            for word in words
            if word.islower() and word.isascii() and 4 <= len(word) <= 8 and 2000 < vocabulary[word] < 20000
        ]
        self._rows: dict[str, tuple[list[int], int]] = {}

    def row(self, word: str) -> tuple[list[int], int]:
        """The hashed features of a word, and its row of ``meanings`` plus one, or 0."""
        if word not in self._rows:
            key = crc32(word.lower().encode("utf-8", "surrogatepass"))
            at = int(np.searchsorted(self.hashes, key))
            known = at < len(self.hashes) and int(self.hashes[at]) == key
            self._rows[word] = (word_features(word, known), at + 1 if known else 0)
        return self._rows[word]


def with_other_values(message: Message, draw: random.Random, words: Sequence[str]) -> Message:
    """The message with other digits and letters of the same form, and other words, in place of its secrets or numbers."""

    def other(value: str) -> str:
        if value.isascii() and value.isalpha() and value.islower() and draw.random() < 0.7:
            return draw.choice(words)
        if value.isascii() and value.istitle() and value.isalpha():
            return draw.choice(words).capitalize()
        mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and " " not in value
        made = "".join(draw.choice(string.digits) if c.isascii() and c.isdigit() else c for c in value)
        if mixed and draw.random() < 0.5:
            word = re.search(r"[a-z]{4,}", made)
            made = made.replace(word[0], draw.choice(words), 1) if word else made
        return made

    if not message.secrets:
        text = re.sub(r"\d", lambda m: draw.choice("123456789") if m[0] != "0" else "0", message.text)
        return message._replace(text=text)
    pieces, secrets, end, size = [], [], 0, 0
    moves: list[tuple[int, int]] = []  # (from this place on, by so much)
    for start, stop, kind in message.secrets:
        value = other(message.text[start:stop])
        pieces += [message.text[end:start], value]
        size += start - end
        secrets.append((size, size + len(value), kind))
        size += len(value)
        moves.append((stop, size - stop))
        end = stop

    def moved(place: int) -> int:
        return place + next((by for start, by in reversed(moves) if start <= place), 0)

    about = tuple((moved(a), moved(b)) for a, b in message.about)
    return Message("".join([*pieces, message.text[end:]]), message.before, tuple(secrets), about)


def in_talk(message: Message, talk: Sequence[Message], draw: random.Random) -> Message:
    """The message behind or before a sentence of ordinary talk."""
    sentence = re.split(r"(?<=[.!?。！？])\s*", draw.choice(talk).text)[0][:120]
    if draw.random() < 0.5:
        return message._replace(text=f"{message.text}{draw.choice(('. ', ' ', chr(10)))}{sentence}")
    lead = f"{sentence}{draw.choice((' ', ' ', chr(10)))}"
    return message._replace(
        text=lead + message.text,
        secrets=tuple((a + len(lead), b + len(lead), kind) for a, b, kind in message.secrets),
        about=tuple((a + len(lead), b + len(lead)) for a, b in message.about),
    )


class Network(torch.nn.Module):
    """The network whose arrays :class:`~hexamem.stores.secrets.tagger.Tagger` runs."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.features = torch.nn.EmbeddingBag(BUCKETS, VECTOR, mode="sum")
        self.places = torch.nn.EmbeddingBag(PLACES, VECTOR, mode="sum")
        torch.nn.init.normal_(self.features.weight, std=0.08)
        torch.nn.init.normal_(self.places.weight, std=0.08)
        table = np.concatenate([np.zeros((1, MEANING), np.float32), vocabulary.meanings])
        self.meanings = torch.nn.Embedding.from_pretrained(torch.from_numpy(table), freeze=True)
        sizes = [VECTOR + MEANING, HIDDEN, HIDDEN]
        self.layers = torch.nn.ModuleList([torch.nn.Linear(5 * size, HIDDEN) for size in sizes])
        self.summary = torch.nn.Linear(HIDDEN, HIDDEN)
        self.out = torch.nn.Linear(VECTOR + MEANING + HIDDEN, 2 + len(KINDS))
        self.chain = torch.nn.Parameter(torch.tensor([[[0.0, -1.0], [-0.5, 0.5]], [[0.0, -1.0], [-1.0, 1.0]]]))
        self.drop = torch.nn.Dropout(0.15)

    def copy(self, weights: NetworkWeights) -> None:
        """Take over weights that were read from a file."""
        state = {"features.weight": weights.features, "places.weight": weights.places, "chain": weights.chain}
        modules = {f"layers.{at}": layer for at, layer in enumerate(weights.layers)}
        for name, (matrix, bias) in (modules | {"summary": weights.summary, "out": weights.out}).items():
            state |= {f"{name}.weight": matrix.T, f"{name}.bias": bias}
        tensors = {name: torch.from_numpy(np.array(array, np.float32)) for name, array in state.items()}
        missing = self.load_state_dict(tensors, strict=False).missing_keys
        if missing != ["meanings.weight"]:
            raise ValueError(f"the weights to start from lack {missing}; they must be of this form of network")

    def forward(self, batch: Batch) -> torch.Tensor:
        hashed = self.features(batch.features, batch.offsets)
        meanings = self.meanings(batch.meanings)
        if self.training:  # now and then a word is known by its form or by its meaning alone
            hidden = torch.rand(len(hashed), 1)
            hashed = hashed * (hidden > torch.where(batch.meanings > 0, 0.18, 0.04)[:, None])
            meanings = meanings * (hidden < 0.93)
        hashed = hashed.index_add(0, batch.real, self.places(batch.places))
        words = self.drop(torch.cat([hashed, meanings], 1))
        state = words
        offsets = torch.arange(-2, 3)
        for number, (reach, layer) in enumerate(zip(REACHES, self.layers, strict=True)):
            padded = torch.zeros(batch.size, state.shape[1]).index_copy(0, batch.there, state)
            around = padded[batch.there[:, None] + reach * offsets].flatten(1)
            fresh = torch.relu(layer(around))
            if number:
                state = state + fresh
            else:
                pooled = torch.zeros(int(batch.segments.max()) + 1, HIDDEN)
                index = batch.segments[:, None].expand(-1, HIDDEN)
                pooled = pooled.scatter_reduce(0, index, fresh, "amax", include_self=True)
                state = fresh + self.drop(self.summary(pooled))[batch.segments]
        return self.out(torch.cat([words, self.drop(state)], 1))[batch.real]


class Batch:
    """Texts as tensors; ``there`` are places of tokens, ``real`` those of them that are tagged."""

    def __init__(self, messages: Sequence[Message], vocabulary: Vocabulary) -> None:
        tokens = self.tokens = tokenize(
            [message.text for message in messages], [message.before for message in messages]
        )
        there = np.flatnonzero(tokens.segment_of >= 0)
        rows = [vocabulary.row(tokens.words[place]) for place in there.tolist()]
        self.glued = torch.from_numpy(tokens.glued)
        self.size = len(tokens.words) + 2 * MARGIN
        self.there = torch.from_numpy(there) + MARGIN
        self.segments = torch.from_numpy(tokens.segment_of[there])
        self.real = torch.from_numpy(np.searchsorted(there, tokens.places))
        lengths = [len(features) for features, _ in rows]
        self.features = torch.tensor([feature for features, _ in rows for feature in features])
        self.offsets = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)[:-1]]))
        self.meanings = torch.tensor([meaning for _, meaning in rows])
        positions = np.concatenate([position_rows(length) for length in tokens.lengths])
        self.places = torch.from_numpy(np.column_stack([positions, touch_rows(tokens.glued)]))
        self.gold = torch.from_numpy(labels(tokens, messages))


def labels(tokens: TokenizedTexts, messages: Sequence[Message]) -> NDArray[np.int64]:
    """For each token: secret (0, 1), kind or -1, about (0, 1, or -1 where nobody marked it)."""
    gold = np.full((len(tokens.places), 3), -1, np.int64)
    for place, (number, start, end) in enumerate(
        zip(tokens.text_of.tolist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    ):
        message = messages[number]
        kind = next((kind for a, b, kind in message.secrets if start < b and a < end), None)
        gold[place, 0] = kind is not None
        if kind in KINDS:  # the others have a form
            gold[place, 1] = KINDS.index(kind)
        if message.about:
            gold[place, 2] = any(start < b and a < end for a, b in message.about)
    return gold


def chain_loss(scores: torch.Tensor, gold: torch.Tensor, batch: Batch, chain: torch.Tensor) -> torch.Tensor:
    """Negative log likelihood of the gold states of all segments, per token."""
    segments = torch.from_numpy(batch.tokens.segment_of[batch.tokens.places])
    _, segment, lengths = torch.unique_consecutive(segments, return_inverse=True, return_counts=True)
    begins = torch.cumsum(lengths, 0) - lengths
    column = torch.arange(len(segments)) - begins[segment]
    shape = (len(lengths), int(lengths.max()))
    odds = torch.zeros(shape).index_put((segment, column), scores)
    states = torch.zeros(shape, dtype=torch.long).index_put((segment, column), gold)
    touches = torch.zeros(shape, dtype=torch.long).index_put((segment, column), batch.glued.long())
    inside = torch.arange(shape[1])[None] < lengths[:, None]
    sums = torch.stack([torch.zeros(shape[0]), odds[:, 0]], 1)
    score = odds[:, 0] * states[:, 0]
    for at in range(1, shape[1]):
        step = chain[touches[:, at]]
        fresh = torch.logsumexp(sums[:, :, None] + step, 1) + torch.stack([torch.zeros(shape[0]), odds[:, at]], 1)
        sums = torch.where(inside[:, at, None], fresh, sums)
        gain = odds[:, at] * states[:, at] + chain[touches[:, at], states[:, at - 1], states[:, at]]
        score = score + torch.where(inside[:, at], gain, torch.zeros(()))
    return (torch.logsumexp(sums, 1) - score).sum() / len(segments)


def fit(
    messages: Sequence[Message], vocabulary: Vocabulary, plan: Plan, seed: int, start: NetworkWeights | None = None
) -> Network:
    """Train a network; each epoch has the frames filled anew and the messages with other values.

    Args:
        start: weights to go on from.
    """
    torch.manual_seed(seed)
    draw = random.Random(seed)
    words = vocabulary.everyday
    talk, pages = ordinary_talk()[:-HELD_OUT], documents()
    unusual = [message for message in talk if UNUSUAL.search(message.text)]
    network = Network(vocabulary)
    if start is not None:
        network.copy(start)
    optimizer = torch.optim.AdamW((p for p in network.parameters() if p.requires_grad), lr=plan.rate, weight_decay=0.02)
    for epoch in range(plan.epochs):
        shown = [*messages, *(with_other_values(message, draw, words) for message in messages)]
        shown += expand(FRAMES, plan.copies, seed * 1000 + epoch, words)
        shown = [in_talk(message, talk, draw) if draw.random() < 0.12 else message for message in shown]
        for texts, number in ((talk, plan.talk), (unusual, plan.unusual_talk), (pages, plan.documents)):
            shown += draw.sample(texts, min(number, len(texts)))
        shown += [Message(odd_text(draw, words), "", ()) for _ in range(plan.odd)]
        draw.shuffle(shown)
        shown = [  # alike lengths go together
            message
            for begin in range(0, len(shown), 40 * BATCH)
            for message in sorted(shown[begin : begin + 40 * BATCH], key=lambda message: len(message.text))
        ]
        begins = list(range(0, len(shown), BATCH))
        draw.shuffle(begins)
        network.train()
        total = 0.0
        for place, begin in enumerate(begins):
            # The rate grows over the first seventh, then falls to zero.
            done = (epoch + place / len(begins)) / plan.epochs
            for group in optimizer.param_groups:
                group["lr"] = plan.rate * min(done / 0.15 + 0.02, (1 - done) / 0.85)
            batch = Batch(shown[begin : begin + BATCH], vocabulary)
            if not len(batch.tokens.places):
                continue
            scores, gold = network(batch), batch.gold
            loss = chain_loss(scores[:, 0], gold[:, 0], batch, network.chain)
            secret, marked = gold[:, 1] >= 0, gold[:, 2] >= 0
            if secret.any():
                loss = loss + 0.05 * torch.nn.functional.cross_entropy(scores[secret, 2:], gold[secret, 1])
            if marked.any():
                about = torch.nn.functional.binary_cross_entropy_with_logits(scores[marked, 1], gold[marked, 2].float())
                loss = loss + 0.05 * about
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"  epoch {epoch + 1}: loss {total / len(begins):.4f}, {time.process_time():.0f} s", flush=True)
    return network


def write(path: Path, networks: Sequence[Network], vocabulary: Vocabulary, threshold: float) -> None:
    """Write the weights in the form that :func:`read_tagger_weights` reads."""

    def in_eight_bits(table: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        scale = np.abs(table).max(0) / 127
        return np.round(table / scale).astype(np.int8), scale.astype(np.float32)

    meanings, scale = in_eight_bits(vocabulary.meanings)
    arrays: dict[str, NDArray[Any]] = {"hashes": vocabulary.hashes, "meanings": meanings, "meanings_scale": scale}
    modules = {f"layer{at}": f"layers.{at}" for at in range(len(REACHES))} | {"summary": "summary", "out": "out"}
    for number, network in enumerate(networks):
        state = {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}
        arrays[f"features{number}"], arrays[f"features_scale{number}"] = in_eight_bits(state["features.weight"])
        for name, module in modules.items():
            arrays[f"{name}{number}"] = state[f"{module}.weight"].T.astype(np.float16)
            arrays[f"{name}_bias{number}"] = state[f"{module}.bias"].astype(np.float16)
        arrays[f"places{number}"] = state["places.weight"].astype(np.float16)
        arrays[f"chain{number}"] = state["chain"].astype(np.float32)
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **arrays, kinds=np.array(KINDS), threshold=np.array(threshold, np.float32))


def count(messages: Sequence[Message], tagger: Tagger | None = None) -> dict[str, int]:
    """Secrets found whole and exactly, and what was taken besides; by other weights than those that ship if given."""
    shipped = detection.load_tagger
    if tagger is not None:
        detection.load_tagger = lambda: tagger  # type: ignore[assignment]
    try:
        spans = [find_secrets(message.text, message.before) for message in messages]
    finally:
        detection.load_tagger = shipped
    total = dict.fromkeys(("secrets", "found", "exact", "look-alikes", "taken", "besides"), 0)
    for message, detected in zip(messages, spans, strict=True):
        places = [(span.start, span.end) for span in detected]
        total["look-alikes"] += not message.secrets
        total["taken"] += bool(places) and not message.secrets
        for start, end, _ in message.secrets:
            total["secrets"] += 1
            total["found"] += any(a <= start and end <= b for a, b in places)
            total["exact"] += (start, end) in places
        if message.secrets:
            total["besides"] += sum(not any(a < e and s < b for s, e, _ in message.secrets) for a, b in places)
    return total


def thresholds(path: Path, messages: Sequence[Message], talk: Sequence[Message]) -> None:
    """Print what each threshold finds and takes."""
    weights = read_tagger_weights(path)
    for threshold in THRESHOLDS:
        tagger = Tagger(weights._replace(threshold=threshold))
        print(
            f"{threshold:5.3f} {count(messages, tagger)} talk {count(talk, tagger)['taken']} of {len(talk)}", flush=True
        )


def show_errors(path: Path, threshold: float, messages: Sequence[Message], file: Path) -> None:
    """Write what is missed and taken wrongly to a file."""
    tagger = Tagger(read_tagger_weights(path)._replace(threshold=threshold))
    shipped, detection.load_tagger = detection.load_tagger, lambda: tagger  # type: ignore[assignment]
    with file.open("a", encoding="utf-8") as out:
        for message in messages:
            places = [(span.start, span.end) for span in find_secrets(message.text, message.before)]
            if places != sorted((a, b) for a, b, _ in message.secrets):
                gold = [message.text[a:b] for a, b, _ in message.secrets]
                out.write(f"{gold} {[message.text[a:b] for a, b in places]} | {message.before} | {message.text!r}\n")
    detection.load_tagger = shipped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=0, help="measure on so many left-out parts instead of training")
    parser.add_argument("--only", type=int, default=0, help="so many of the parts")
    parser.add_argument("--start", type=Path, help="go on from the networks of this file, with fewer epochs")
    parser.add_argument(
        "--threshold", type=float, default=0.9, help="probability that one token of a secret must reach"
    )
    parser.add_argument("--show", type=Path, help="write what was missed and taken on the measured parts to this file")
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--measure", nargs="*", type=Path, help="files of the corpus to count on, sealed ones too")
    arguments = parser.parse_args()
    if arguments.measure:
        messages = read_messages([path if path.is_file() else SECRETS / path for path in arguments.measure])
        started = time.perf_counter()
        print(count(messages))
        print(f"{1000 * (time.perf_counter() - started) / len(messages):.3f} ms a message")
        return
    torch.set_num_threads(1)
    vocabulary = Vocabulary()
    files = [file for file in open_files("secrets") if not file.name.startswith(("frames.json", "validation"))]
    briefs = sorted({brief_of(file) for file in files})
    validation = read_messages(open_files("secrets", "validation*.json"))
    talk = ordinary_talk()[-HELD_OUT:]

    def train(seen: Sequence[Path]) -> list[Network]:
        starts: Sequence[NetworkWeights | None] = [None] * NETWORKS
        plan = ANEW
        if arguments.start:
            starts, plan = read_tagger_weights(arguments.start).networks, CONTINUED
            seen = [*seen, *(file for file in seen if file.name.startswith("brief_"))]
        messages = read_messages(seen)
        random.Random(SEED).shuffle(messages)
        return [fit(messages, vocabulary, plan, SEED + number, start) for number, start in enumerate(starts)]

    for fold in range(arguments.only or arguments.folds):
        closed = briefs[fold :: arguments.folds]
        path = arguments.out.with_name(f"fold{fold}.npz")
        write(path, train([f for f in files if brief_of(f) not in closed]), vocabulary, arguments.threshold)
        left_out = read_messages([file for file in files if brief_of(file) in closed])
        print("left out:", *closed)
        thresholds(path, left_out, talk)
        if arguments.show:
            show_errors(path, arguments.threshold, left_out, arguments.show)
    if not arguments.folds:
        write(arguments.out, train(files), vocabulary, arguments.threshold)
        print(f"wrote {arguments.out}, {arguments.out.stat().st_size:,} bytes")
        thresholds(arguments.out, validation, talk)
        if arguments.show:
            show_errors(arguments.out, arguments.threshold, validation, arguments.show)


if __name__ == "__main__":
    main()
