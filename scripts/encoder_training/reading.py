"""The cross-encoder that ships, as a network that can be trained further: its 7-bit weights are read from its ONNX file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertConfig, BertModel

from encoder_training.network import DIMENSION
from encoder_training.pair_network import PairNetwork

_PRODUCTS = "MatMulInteger"


def read_pair_network(folder: Path, tokenizer: Tokenizer, tokens: int) -> PairNetwork:
    """The network of ``reranker.onnx``; its scores are those of the file but for the rounding of products.

    Raises:
        ValueError: the file has weights that this network does not have, or lacks some.
    """
    graph = onnx.load(str(folder / "reranker.onnx")).graph
    stored = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    weights = {
        name.removeprefix("network."): torch.tensor(values)
        for name, values in stored.items()
        if name.startswith("network.") and not name.endswith(("_scale", "_zero_point", "_quantized"))
    }
    for name in stored:
        if name.endswith("_quantized") and "embeddings" in name:
            weights[name.removeprefix("network.").removesuffix("_quantized")] = _whole(
                stored, name.removesuffix("_quantized")
            )
    for node in graph.node:
        quantized = next((name for name in node.input if name in stored and name.endswith("_quantized")), None)
        if node.op_type == _PRODUCTS and quantized:
            place = node.name.strip("/").removesuffix("/MatMul_quant").removesuffix("/Gemm_quant")
            module = place.removeprefix("transformer/").replace("/", ".")
            head = module.split(".")[0] in ("relevance", "supersedes")
            key = f"{module.split('.')[0] if head else f'transformer.{module}'}.weight"
            weights[key] = _whole(stored, quantized.removesuffix("_quantized")).T.contiguous()
    rows, positions = (weights[f"transformer.embeddings.{name}_embeddings.weight"] for name in ("word", "position"))
    layers = 1 + max(int(name.split("layer.")[1].split(".")[0]) for name in weights if "layer." in name)
    config = BertConfig(
        vocab_size=len(rows), hidden_size=DIMENSION, num_hidden_layers=layers, num_attention_heads=12,
        intermediate_size=1536, max_position_embeddings=len(positions), attn_implementation="eager",
    )  # fmt: skip
    network = PairNetwork(BertModel(config, add_pooling_layer=False), tokenizer, tokens)
    differing = network.load_state_dict(weights, strict=False)
    if differing.unexpected_keys or [name for name in differing.missing_keys if "position_ids" not in name]:
        raise ValueError(
            f"{folder / 'reranker.onnx'}: {differing}; it is of another form than scripts/train_reranker.py writes"
        )
    return network


def _whole(stored: dict[str, np.ndarray], name: str) -> Tensor:
    values = stored[f"{name}_quantized"].astype(np.float32) - stored[f"{name}_zero_point"].astype(np.float32)
    return torch.tensor(values * stored[f"{name}_scale"])
