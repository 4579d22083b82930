"""OpenAI's embedding models (and servers that speak its protocol) by name: `openai:text-embedding-3-small`."""

from __future__ import annotations

from hexamem.errors import ConfigError
from hexamem.stores.embedders.base import Embedder
from hexamem.stores.embedders.langchain import LangChainEmbedder

__all__ = ["open_openai", "within_tokens"]

_MAX_TOKENS = 8_191  # input limit of the text-embedding models
_TOKENS_PER_ASCII = 0.75  # dense text such as base64; prose needs a third of it
_TOKENS_PER_OTHER = 2.0


def open_openai(model: str) -> Embedder:
    """An embedder for `model`, through langchain-openai and with its retries.

    Key and address come from the environment as the OpenAI client reads them (`OPENAI_API_KEY`, `OPENAI_BASE_URL`);
    for anything else pass an `OpenAIEmbeddings` object to `open_embedder`. The client's own length check is off: it
    downloads tiktoken's tables and sends token ids, which other servers do not understand. Texts are cut by
    `within_tokens` instead.

    Raises:
        ConfigError: `model` is empty, or the client cannot be made (usually for want of a key).
    """
    if not model:
        raise ConfigError("The embedder 'openai:' names no model; write for example 'openai:text-embedding-3-small'.")
    from langchain_openai import OpenAIEmbeddings
    from openai import OpenAIError

    try:
        embeddings = OpenAIEmbeddings(model=model, check_embedding_ctx_length=False)
    except OpenAIError as error:
        raise ConfigError(f"The embedder 'openai:{model}' cannot be opened: {error}. Set OPENAI_API_KEY.") from error
    return LangChainEmbedder(embeddings, name=f"openai:{model}", shorten=within_tokens)


def within_tokens(text: str, limit: int = _MAX_TOKENS) -> str:
    """The longest head of `text` that has at most `limit` tokens by a cautious estimate (no tokenizer is loaded)."""
    if len(text) * _TOKENS_PER_OTHER <= limit:
        return text
    tokens = 0.0
    for i, character in enumerate(text):
        tokens += _TOKENS_PER_ASCII if character.isascii() else _TOKENS_PER_OTHER
        if tokens > limit:
            return text[:i]
    return text
