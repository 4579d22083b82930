"""Train the tagger of secrets on ``evals/corpus/secrets``, or measure it.

    python scripts/train_secrets.py             writes stores/secrets/weights/tagger.npz, in some minutes
    python scripts/train_secrets.py --folds 5   secrets found and look-alikes taken in parts that were left out
    python scripts/train_secrets.py --measure heldout_secrets.json heldout_lookalikes.json
                                                counts by the weights that ship; no text is shown

Sealed files are never read to train. Besides the messages it trains on sentence frames whose slots are filled anew in
each epoch (``secret_frames.py``), on the messages with other values of like form in place of their secrets and numbers, and on
turns of the corpus's conversations without any word of secrets, as ordinary talk. The threshold is the lowest at which at
most MOST_LOOK_ALIKES of the look-alikes and MOST_TALK of the ordinary talk of the left-out parts are taken. Needs torch.
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
from typing import Any
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from secret_frames import Message, expand

from hexamem.evals.sealed import CORPUS, open_files
from hexamem.stores.secrets import find_secrets_in, tagger
from hexamem.stores.secrets.captions import NOUNS
from hexamem.stores.secrets.token_features import BITS, OF_WORD, Groups, Tokens, attributes_of, tokenize

FRAMES = CORPUS / "secrets" / "frames.json"
TARGET = Path(__file__).parent.parent / "stores" / "secrets" / "weights" / "tagger.npz"
STATIC = Path(__file__).parent.parent / "stores" / "embedders" / "static_model"
KINDS = tuple(sorted(NOUNS))
GROUPS, VECTOR, HIDDEN, NETWORKS, EPOCHS, RATE, BATCH, SEED = 500, 40, 64, 4, 18, 4e-3, 192, 7
COPIES, TALK = 3, 3000
MOST_LOOK_ALIKES, MOST_TALK = 0.01, 0.003
CUES = re.compile(
    r"passw|passc|passp|\bp[iw]n?\b|code|\bkeys?\b|token|密码|密碼|口令|暗号|account|log ?in|cvc|cvv|locker|combin|secret|alarm|wifi|账号"
    r"|验证码|\bpw|iban|licen[cs]e|号",
    re.IGNORECASE,
)


def read_messages(files: Sequence[Path]) -> list[Message]:
    """The messages of files of ``evals/corpus/secrets``."""
    return [
        Message(
            one["text"],
            one.get("before", ""),
            tuple((s["start"], s["end"], s["kind"]) for s in one.get("secrets") or ()),
            tuple((start, end) for start, end in one.get("about") or ()),
        )
        for file in files
        for one in json.loads(file.read_text(encoding="utf-8"))["messages"]
    ]


def ordinary_talk() -> list[Message]:
    """Turns of conversations without a word of secrets, shuffled."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, part in value.items():
                if key in {"text", "content"} and isinstance(part, str):
                    yield part
                else:
                    yield from strings(part)
        elif isinstance(value, list):
            for part in value:
                yield from strings(part)

    files = [*open_files("open"), *open_files("sentences")]
    texts = {text for file in files for text in strings(json.loads(file.read_text(encoding="utf-8")))}
    talk = sorted(text for text in texts if not CUES.search(text))
    random.Random(SEED).shuffle(talk)
    return [Message(text, "", ()) for text in talk]


def word_groups() -> tuple[Groups, list[str]]:
    """Words of like meaning by k-means over the static embedder's vectors, and the everyday words among them."""
    from safetensors.numpy import load_file

    vocabulary = json.loads((STATIC / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = [word for word in vocabulary if word.isalpha() and word.isascii() and len(word) > 1]
    rows = load_file(STATIC / "model.safetensors")["embeddings"][[vocabulary[word] for word in words]].astype(
        np.float32
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9
    centres = rows[np.random.default_rng(0).choice(len(rows), GROUPS, replace=False)]
    for _ in range(6):
        nearest = (rows @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, rows)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), centres)
    hashes = np.array([crc32(word.encode()) for word in words], np.uint32)
    order = np.argsort(hashes)
    everyday = [word for word in words if word.islower() and 4 <= len(word) <= 8 and 2000 < vocabulary[word] < 20000]
    return Groups(hashes[order], nearest[order].astype(np.uint16)), everyday


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


class Network(torch.nn.Module):
    """The network whose arrays :class:`~hexamem.stores.secrets.tagger.Tagger` runs with numpy."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors = torch.nn.Embedding(2**BITS, VECTOR, padding_idx=0)
        torch.nn.init.normal_(self.vectors.weight, std=0.1)
        sizes = [VECTOR, HIDDEN, HIDDEN]
        self.layers = torch.nn.ModuleList([torch.nn.Linear(5 * size, HIDDEN) for size in sizes])
        self.out = torch.nn.Linear(VECTOR + HIDDEN, 2 + len(KINDS))
        self.drop = torch.nn.Dropout(0.15)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        there = (rows[:, :1] != 0).float()
        first = self.drop(self.vectors(rows).sum(1) * there)
        state = first
        for number, layer in enumerate(self.layers):
            reach = tagger.REACHES[number]
            padded = torch.nn.functional.pad(state, (0, 0, 2 * reach, 2 * reach))
            around = torch.cat([padded[step * reach : step * reach + len(state)] for step in range(5)], 1)
            fresh = torch.relu(layer(around)) * there
            state = fresh if number == 0 else state + fresh
        return self.out(torch.cat([first, self.drop(state)], 1))


def labels(tokens: Tokens, messages: Sequence[Message]) -> NDArray[np.int64]:
    """For each real token: secret (0, 1), kind or -1, about (0, 1, or -1 where nobody marked it)."""
    found = np.full((len(tokens.real), 3), -1, np.int64)
    for place, at in enumerate(tokens.real.tolist()):
        message = messages[tokens.text_of[at]]
        start, end = tokens.starts[at], tokens.ends[at]
        kind = next((kind for a, b, kind in message.secrets if start < b and a < end), None)
        found[place, 0] = kind is not None
        if kind in KINDS:  # the others have a form
            found[place, 1] = KINDS.index(kind)
        if message.about:
            found[place, 2] = any(start < b and a < end for a, b in message.about)
    return found


def fit(
    messages: Sequence[Message], talk: Sequence[Message], groups: Groups, words: list[str], epochs: int, seed: int
) -> Network:
    """Train a network; each epoch sees the frames filled anew and the messages with other values."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.02)
    memo: dict[str, bytes] = {}
    for epoch in range(epochs):
        shown = [*messages, *(with_other_values(one, draw, words) for one in messages), *talk]
        shown += expand(FRAMES, COPIES, seed * 1000 + epoch, words)
        draw.shuffle(shown)
        network.train()
        total = 0.0
        for begin in range(0, len(shown), BATCH):
            part = shown[begin : begin + BATCH]
            done = (epoch + begin / len(shown)) / epochs  # the rate grows over the first seventh, then falls to zero
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(done / 0.15 + 0.02, (1 - done) / 0.85)
            tokens = tokenize([one.text for one in part], [one.before for one in part])
            rows = torch.from_numpy(attributes_of(tokens, groups, memo))
            # Words, and groups of words, are hidden now and then, so that neither alone decides.
            hidden = torch.rand(len(rows), 1) < 0.08
            rows[:, 1 : OF_WORD - 1] = torch.where(hidden & (rows[:, :1] != 0), 0, rows[:, 1 : OF_WORD - 1])
            rows[:, 0] = torch.where((torch.rand(len(rows)) < 0.1) & (rows[:, 0] != 0), 1, rows[:, 0])
            gold = torch.from_numpy(labels(tokens, part))
            scores = network(rows)[torch.from_numpy(tokens.real)]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores[:, 0], gold[:, 0].float())
            secret, marked = gold[:, 1] >= 0, gold[:, 2] >= 0
            if secret.any():
                loss = loss + 0.05 * torch.nn.functional.cross_entropy(scores[secret, 2:], gold[secret, 1])
            if marked.any():
                about = torch.nn.functional.binary_cross_entropy_with_logits(scores[marked, 1], gold[marked, 2].float())
                loss = loss + 0.05 * about
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"  epoch {epoch + 1}: loss {total * BATCH / len(shown):.4f}, {time.process_time():.0f} s", flush=True)
    return network


def fit_all(
    messages: Sequence[Message], talk: Sequence[Message], groups: Groups, words: list[str], epochs: int
) -> list[Network]:
    """NETWORKS networks that differ in their beginnings and in what fills the frames."""
    return [fit(messages, talk, groups, words, epochs, SEED + number) for number in range(NETWORKS)]


def weights_of(networks: Sequence[Network], groups: Groups, threshold: float) -> tagger.TaggerWeights:
    """The arrays of trained networks."""
    made = []
    for network in networks:
        arrays = {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}
        layers = tuple(
            (arrays[f"layers.{n}.weight"].T.copy(), arrays[f"layers.{n}.bias"]) for n in range(len(tagger.REACHES))
        )
        out = (arrays["out.weight"].T.copy(), arrays["out.bias"])
        made.append(tagger.NetworkWeights(arrays["vectors.weight"], layers, out))
    return tagger.TaggerWeights(tuple(made), KINDS, threshold, groups)


def counts(messages: Sequence[Message], spans: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Secrets found whole and exactly, and what was taken besides."""
    total = dict.fromkeys(("secrets", "found", "exact", "touched", "look-alikes", "taken", "besides"), 0)
    for message, found in zip(messages, spans, strict=True):
        places = [(one.start, one.end) for one in found]
        total["look-alikes"] += not message.secrets
        total["taken"] += bool(places) and not message.secrets
        for start, end, _ in message.secrets:
            total["secrets"] += 1
            total["found"] += any(a <= start and end <= b for a, b in places)
            total["exact"] += (start, end) in places
            total["touched"] += any(a < end and start < b for a, b in places)
        if message.secrets:
            total["besides"] += sum(not any(a < e and s < b for s, e, _ in message.secrets) for a, b in places)
    return total


def detect(messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    spans: list[tuple[Any, ...]] = []
    for begin in range(0, len(messages), 256):
        part = messages[begin : begin + 256]
        spans += find_secrets_in([one.text for one in part], [one.before for one in part])
    return spans


def with_tagger(weights: tagger.TaggerWeights, messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    """What is found with other weights than those that ship."""
    from hexamem.stores.secrets import detection

    shipped = detection.open_tagger
    detection.open_tagger = lambda: tagger.Tagger(weights)  # type: ignore[assignment]
    try:
        return detect(messages)
    finally:
        detection.open_tagger = shipped


def measure_thresholds(
    parts: Sequence[tuple[tagger.TaggerWeights, list[Message]]], talk: list[Message]
) -> tuple[float, list[str]]:
    """The threshold for MOST_LOOK_ALIKES and MOST_TALK over parts that each network has not seen, and a line on each threshold."""
    lines, best = [], 0.0
    for threshold in np.arange(-2.0, 6.5, 0.5):
        total: dict[str, int] = {}
        for weights, messages in parts:
            now = counts(messages, with_tagger(weights._replace(threshold=float(threshold)), messages))
            now["talk"] = counts(talk, with_tagger(weights._replace(threshold=float(threshold)), talk))["taken"]
            total = {name: total.get(name, 0) + value for name, value in now.items()}
        lines.append(f"{threshold:4.1f}  {total}")
        talk_share = total["talk"] / (len(talk) * len(parts))
        fits = total["taken"] <= MOST_LOOK_ALIKES * total["look-alikes"] and talk_share <= MOST_TALK
        best = best or (float(threshold) if fits else 0.0)
    return best, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=0, help="measure on so many left-out parts instead of training")
    parser.add_argument("--only", type=int, default=0, help="so many of the parts")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--threshold", type=float, help="log odds from which a token is secret")
    parser.add_argument("--show", type=Path, help="with --folds: write what was missed and taken to this file")
    parser.add_argument("--measure", nargs="*", type=Path, help="files of the corpus to count on, sealed ones too")
    arguments = parser.parse_args()
    if arguments.measure:
        messages = read_messages([path if path.is_file() else CORPUS / "secrets" / path for path in arguments.measure])
        started = time.perf_counter()
        print(counts(messages, detect(messages)))
        print(f"{len(messages) / (time.perf_counter() - started):.0f} messages a second")
        return
    messages = read_messages([file for file in open_files("secrets") if file != FRAMES])
    random.Random(SEED).shuffle(messages)
    groups, words = word_groups()
    talk = ordinary_talk()
    if arguments.folds:
        parts = []
        for fold in range(arguments.only or arguments.folds):
            left_out = [one for place, one in enumerate(messages) if place % arguments.folds == fold]
            shown = [one for place, one in enumerate(messages) if place % arguments.folds != fold]
            parts.append(
                (weights_of(fit_all(shown, talk[:TALK], groups, words, arguments.epochs), groups, 0.0), left_out)
            )
        best, lines = measure_thresholds(parts, talk[-2000:])
        print("\n".join(lines), f"threshold {best}", sep="\n")
        if arguments.show:
            with arguments.show.open("w", encoding="utf-8") as file:
                for weights, left_out in parts:
                    threshold = arguments.threshold if arguments.threshold is not None else best
                    for message, found in zip(
                        left_out, with_tagger(weights._replace(threshold=threshold), left_out), strict=True
                    ):
                        places = [(one.start, one.end) for one in found]
                        if sorted(places) != sorted((a, b) for a, b, _ in message.secrets):
                            file.write(
                                f"{[message.text[a:b] for a, b, _ in message.secrets]} {[message.text[a:b] for a, b in places]} | "
                                f"{message.before} | {message.text!r}\n"
                            )
        return
    networks = fit_all(messages, talk[:TALK], groups, words, arguments.epochs)
    if arguments.threshold is None:
        raise SystemExit("give --threshold, as --folds found it")
    tagger.save_weights(TARGET, weights_of(networks, groups, arguments.threshold))
    print(f"wrote {TARGET}, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
