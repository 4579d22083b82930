"""Write a trained network as package data: the int8 ONNX model, the tokenizer, the heads, and what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from encoder_training.corpus import Part
from encoder_training.network import Network
from hexamem.models.encoder import Encoder


class _Outputs(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.transformer = network.transformer

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(states.dtype)
        return (states * weight).sum(1) / weight.sum(1), states


def export(network: Network, validation: Part, out: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Write all files to a folder.

    Returns:
        Sizes in bytes, and the correlation of int8 scores with float ones over questions and turns of the validation.
    """
    from safetensors.numpy import save_file

    out.mkdir(parents=True, exist_ok=True)
    network.eval()
    quantize(_Outputs(network), ("vector", "states"), out / "encoder.onnx")
    network.tokenizer.no_padding()
    network.tokenizer.no_truncation()
    network.tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    heads = {
        "subject.weight": network.subject.weight,
        "hop.question": network.hop_question.weight,
        "hop.evidence": network.hop_evidence.weight,
        "hop.both": network.hop_both.weight * len(network.hop_both.weight) ** 0.5,
    }
    arrays = {name: value.detach().numpy().astype(np.float32) for name, value in heads.items()}
    metadata = {**card, "licence": "Apache-2.0", "dimension": arrays["hop.question"].shape[0]}
    save_file(arrays, str(out / "heads.safetensors"))
    digests = {name: _digest(out / name) for name in ("encoder.onnx", "tokenizer.json", "heads.safetensors")}
    vectors = hashlib.sha256((digests["encoder.onnx"] + digests["tokenizer.json"]).encode()).hexdigest()[:32]
    metadata |= {
        "fingerprint": vectors, "sha256": digests["encoder.onnx"], "heads_sha256": digests["heads.safetensors"],
    }  # fmt: skip
    write_metadata(out, {**metadata, "center": [0.0] * metadata["dimension"]})
    write_metadata(out, {**metadata, "center": center_of(Encoder(out), validation)})
    sizes = {path.name: path.stat().st_size for path in sorted(out.iterdir())}
    return {
        "bytes": sizes,
        "correlation": _correlation(network, validation, out),
    }


def quantize(module: nn.Module, outputs: Sequence[str], path: Path) -> None:
    """Write a module that takes ids and mask ``(n, t)`` as an int8 ONNX model.

    Weights are quantized to 7 bits: products of 8-bit ones overflow the 16-bit sums of processors without VNNI, and scores
    differ from one machine to another. What each costs: ``docs/encoder.md``. Without
    ``per_channel`` the scores correlate at 0.87 to 0.98 with those of the float model.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    whole = path.with_suffix(".float.onnx")
    ids = torch.randint(5, 1000, (2, 16))
    axes = {name: {0: "batch", 1: "tokens"} for name in ("ids", "mask", "states")}
    torch.onnx.export(
        module,
        (ids, torch.ones_like(ids)),
        str(whole),
        input_names=["ids", "mask"],
        output_names=list(outputs),
        dynamic_axes={name: axes.get(name, {0: "batch"}) for name in ("ids", "mask", *outputs)},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(str(whole), str(path), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    whole.unlink()


def center_of(encoder: Encoder, part: Part) -> list[float]:
    """The mean of the vectors of some thousand turns."""
    turns = [turn for conversation in part.conversations for turn in conversation.turns[:100]]
    return [round(float(value), 4) for value in encoder.vectors(turns).mean(axis=0)]


def write_metadata(out: Path, metadata: dict[str, Any]) -> None:
    """Write what is known of the encoder, one line a key."""
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in metadata.items()]
    (out / "metadata.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _correlation(network: Network, validation: Part, out: Path) -> float:
    conversation = validation.conversations[0]
    turns, asked = conversation.turns[:100], [question.text for question in conversation.questions[:30]]
    with torch.no_grad():
        full = (network.vectors(network.ids(asked)) @ network.vectors(network.ids(turns)).T).numpy()
    small = Encoder(out)
    return round(float(np.corrcoef(full.ravel(), (small.vectors(asked) @ small.vectors(turns).T).ravel())[0, 1]), 4)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
