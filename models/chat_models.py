"""Chat models by name: `openai:gpt-5-mini`, a server of one's own by `base_url`, or any LangChain chat model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hexamem.errors import ConfigError, InvalidInputError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    ModelSpec = str | BaseChatModel

__all__ = [
    "AGENTS",
    "Models",
    "key_variable",
    "model_name",
    "open_chat_model",
    "secrets_of",
    "speaks_openai",
    "without_own_retries",
]

# Each agent with the group whose model it uses when it has none of its own.
AGENTS: Mapping[str, str | None] = MappingProxyType(
    {
        "intent_labeler": None,
        "memorizer": None,
        "meta_manager": None,
        "managers": None,
        "core_manager": "managers",
        "episodic_manager": "managers",
        "semantic_manager": "managers",
        "procedural_manager": "managers",
        "resource_manager": "managers",
        "vault_manager": "managers",
        "researcher": None,
        "planner": "researcher",
        "integrator": "researcher",
        "reflector": "researcher",
        "experience": None,
        "distiller": "experience",
        "judge": "experience",
        "chat": None,
    }
)

_KEYS = {"google_genai": "GOOGLE_API_KEY", "mistralai": "MISTRAL_API_KEY", "perplexity": "PPLX_API_KEY"}
_NO_KEY = "no-key-needed"  # servers of one's own ask for none, the client insists on one
_TIMEOUT = 120.0


def open_chat_model(
    model: ModelSpec, *, base_url: str | None = None, api_key: str | None = None, timeout: float = _TIMEOUT
) -> BaseChatModel:
    """A chat model from its name, or the one that is given.

    Args:
        model: ``provider:name`` as LangChain's ``init_chat_model`` reads it (``openai:gpt-5-mini``), or a
            LangChain chat model, which is taken with its own settings.
        base_url: the address of an OpenAI-compatible server, such as ``http://localhost:11434/v1`` for Ollama. No key
            is asked for then; one in the environment is sent along, as such servers expect.
        api_key: the key, if it is not in the environment.
        timeout: seconds for one request.

    Returns:
        The model, which streams and retries as its client does; `StructuredCall` works on a `without_own_retries` copy.

    Raises:
        ConfigError: the name has no provider or an unknown one, its package or key is missing (the message says
            which), or it cannot be made.
    """
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        if base_url is not None or api_key is not None:
            raise ConfigError("base_url and api_key go with a model's name; this model is an object: set them on it.")
        return model
    if not isinstance(model, str):
        raise ConfigError(
            f"A model is a name such as 'openai:gpt-5-mini' or a LangChain chat model, not {type(model).__name__}."
        )
    provider, colon, name = model.partition(":")
    if not (provider and colon and name.strip()):
        raise ConfigError(f"The model {model!r} names no provider or no model; write for example 'openai:gpt-5-mini'.")
    return _by_name(model, provider, base_url, api_key, timeout)


def _by_name(model: str, provider: str, base_url: str | None, api_key: str | None, timeout: float) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    key = key_variable(provider)
    settings: dict[str, Any] = {"timeout": timeout}
    if base_url is not None:
        _check_address(model, base_url)
        settings["base_url"] = base_url
    if api_key is not None:
        settings["api_key"] = api_key
    elif provider == "openai" and not os.environ.get("OPENAI_API_KEY"):
        if not (base_url or os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")):
            raise ConfigError(
                f"The model {model!r} needs a key: set {key}, or name a server of your own "
                "(OPENAI_BASE_URL, or base_url=… in Python), or pass api_key=…"
            )
        settings["api_key"] = _NO_KEY
    # What the constructors raise may quote their arguments, the key among them: only the kind of error is passed on.
    problem = ""
    try:
        opened: BaseChatModel = init_chat_model(model, **settings)
        return opened
    except ImportError as error:
        package = (error.name or f"langchain_{provider}").split(".")[0].replace("_", "-")
        problem = f"its package is missing; run: pip install {package}"
    except Exception as error:  # noqa: BLE001 - every provider raises its own kinds, and each becomes a ConfigError
        if "provider" in str(error) and not isinstance(error, TypeError):
            problem = f"LangChain knows no provider {provider!r}; write for example 'openai:gpt-5-mini'"
        elif not os.environ.get(key) and api_key is None:
            problem = f"its key is missing: set {key}"
        else:
            problem = f"its client refused the settings ({type(error).__name__})"
    raise ConfigError(f"The model {model!r} cannot be opened: {problem}.")


def _check_address(model: str, base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise ConfigError(
            f"base_url = {base_url!r} of the model {model!r} is no address; write for example 'http://localhost:11434/v1'"
        )


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return _KEYS.get(provider, f"{provider.upper()}_API_KEY")


def speaks_openai(model: BaseChatModel) -> bool:
    """Whether a model is LangChain's OpenAI client or built on it, and so takes its request settings."""
    return any(one.__name__ == "BaseChatOpenAI" for one in type(model).__mro__)


def model_name(model: BaseChatModel) -> str:
    """How a model is called in messages: its name at the provider, else its class."""
    for attribute in ("model_name", "model"):
        value = getattr(model, attribute, None)
        if isinstance(value, str) and value:
            return repr(value)
    return type(model).__name__


class Secrets(frozenset[str]):
    """Texts that must not be shown; they do not show themselves either."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} secrets>"

    __str__ = __repr__


def secrets_of(model: BaseChatModel) -> Secrets:
    """Keys that a model holds, so that they can be taken out of messages. Never show or store the result."""
    found: set[str] = set()
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        secret = getattr(value, "get_secret_value", None)
        if callable(secret):
            found.add(str(secret()))
        elif isinstance(value, Mapping) and "header" in name:
            found.update(str(one) for one in value.values())
    for client in (getattr(model, "root_client", None), getattr(model, "root_async_client", None)):
        key = getattr(client, "api_key", None)
        if isinstance(key, str):
            found.add(key)
    return Secrets(one for one in found if len(one) >= 6)


def without_own_retries(model: BaseChatModel) -> BaseChatModel:
    """A copy of an OpenAI model whose client does not retry by itself and does not stream; any other model as it is.

    Replies of inner agents are read whole: a stream that breaks off could pass for a short reply.
    """
    if not speaks_openai(model):
        return model
    changes: dict[str, object] = {"disable_streaming": True, "max_retries": 0}
    for root, leaf in (("root_client", "client"), ("root_async_client", "async_client")):
        client = getattr(model, root, None)
        if client is not None and hasattr(client, "with_options"):
            quiet = client.with_options(max_retries=0)
            changes |= {root: quiet, leaf: quiet.chat.completions}
    return model.model_copy(update=changes)


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which chat model each agent uses. Make one with `Models.open`; an empty one is the embedded tier.

    Attributes:
        default: the model of every agent that has none of its own, or None.
        agents: models by agent or group of agents, as in `AGENTS`.
    """

    default: BaseChatModel | None = None
    agents: Mapping[str, BaseChatModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.agents:
            _known(name, ConfigError)
        object.__setattr__(self, "agents", MappingProxyType(dict(self.agents)))

    @classmethod
    def open(
        cls,
        model: ModelSpec | None = None,
        models: Mapping[str, ModelSpec] | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = _TIMEOUT,
    ) -> Models:
        """Open the models of a memory. Without any, nothing of LangChain is loaded.

        Args:
            model: the default, as `open_chat_model` takes it.
            models: one an agent or group of agents; ``researcher`` stands for planner, integrator and reflector,
                ``managers`` for the six managers.
            base_url: for every model that is given by name.
            api_key: likewise.
            timeout: seconds for one request, likewise.

        Raises:
            ConfigError: an agent that there is not (the message lists those there are), or a model that cannot be
                opened.
        """
        for name in models or {}:
            _known(name, ConfigError)
        opened: dict[str, BaseChatModel] = {}  # one client for each name

        def open_one(spec: ModelSpec) -> BaseChatModel:
            if not isinstance(spec, str):
                return open_chat_model(spec, timeout=timeout)
            if spec not in opened:
                opened[spec] = open_chat_model(spec, base_url=base_url, api_key=api_key, timeout=timeout)
            return opened[spec]

        return cls(
            default=None if model is None else open_one(model),
            agents={name: open_one(spec) for name, spec in (models or {}).items()},
        )

    def of(self, agent: str) -> BaseChatModel | None:
        """The model of an agent: its own, else its group's, else the default; None means rules.

        Raises:
            InvalidInputError: there is no such agent; the message lists those there are.
        """
        _known(agent, InvalidInputError)
        group = AGENTS[agent]
        return self.agents.get(agent) or (self.agents.get(group) if group else None) or self.default

    def __bool__(self) -> bool:
        return self.default is not None or bool(self.agents)


def _known(agent: object, error: type[ConfigError | InvalidInputError]) -> None:
    if agent not in AGENTS:
        raise error(f"There is no agent {agent!r}; the agents are {', '.join(AGENTS)}.")
