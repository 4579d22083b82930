"""Chat models by name such as `openai:gpt-5-mini`, on a local server by `base_url`, or any LangChain chat model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

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

# Agent → the group whose model it uses if it has none of its own.
AGENTS: Mapping[str, str | None] = MappingProxyType(
    {
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
_NO_KEY = "no-key-needed"  # local servers need no key, but the client requires one
_TIMEOUT = 120.0
_ADDRESS = TypeAdapter(AnyHttpUrl)


def open_chat_model(
    model: ModelSpec, *, base_url: str | None = None, api_key: str | None = None, timeout: float = _TIMEOUT
) -> BaseChatModel:
    """Open a chat model by its name; a chat model is returned unchanged.

    Args:
        model: ``provider:name`` as LangChain's ``init_chat_model`` reads it (``openai:gpt-5-mini``), or a
            LangChain chat model with settings of its own.
        base_url: the address of an OpenAI-compatible server, such as ``http://localhost:11434/v1`` for Ollama. No key
            is needed then; one in the environment is sent.
        api_key: the key, if it is not in the environment.
        timeout: seconds for one request.

    Returns:
        The model, with the streaming and retries of its client; `StructuredCall` uses a `without_own_retries` copy.

    Raises:
        ConfigError: the name has no provider or an unknown one, its package or key is missing (the message names
            it), or it cannot be created.
    """
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        if base_url is not None or api_key is not None:
            raise ConfigError(
                "base_url and api_key are for a model given by name; this model is an object: set them on it."
            )
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
        try:
            _ADDRESS.validate_python(base_url)
        except ValidationError:
            raise ConfigError(
                f"base_url = {base_url!r} of the model {model!r} is not an address; write for example "
                "'http://localhost:11434/v1'"
            ) from None
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
    # Errors of constructors may quote their arguments, including the key: only the class of the error is reported.
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


def key_variable(provider: str) -> str:
    """The environment variable of a provider's key."""
    return _KEYS.get(provider, f"{provider.upper()}_API_KEY")


def speaks_openai(model: BaseChatModel) -> bool:
    """Whether a model is LangChain's OpenAI client or a subclass, and so accepts its request settings."""
    return any(parent.__name__ == "BaseChatOpenAI" for parent in type(model).__mro__)


def model_name(model: BaseChatModel) -> str:
    """The name of a model for messages: that at the provider, otherwise its class."""
    for attribute in ("model_name", "model"):
        value = getattr(model, attribute, None)
        if isinstance(value, str) and value:
            return repr(value)
    return type(model).__name__


class Secrets(frozenset[str]):
    """Secret texts, which its own ``repr`` does not contain."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} secrets>"

    __str__ = __repr__


def secrets_of(model: BaseChatModel) -> Secrets:
    """The keys in a model, to remove them from messages. Never show or store the result."""
    secrets: set[str] = set()
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        secret = getattr(value, "get_secret_value", None)
        if callable(secret):
            secrets.add(str(secret()))
        elif isinstance(value, Mapping) and "header" in name:
            secrets.update(map(str, value.values()))
    for client in (getattr(model, "root_client", None), getattr(model, "root_async_client", None)):
        key = getattr(client, "api_key", None)
        if isinstance(key, str):
            secrets.add(key)
    return Secrets(secret for secret in secrets if len(secret) >= 6)


def without_own_retries(model: BaseChatModel) -> BaseChatModel:
    """A copy of an OpenAI model without client retries and streaming; any other model unchanged.

    Replies of inner agents are not streamed, since a broken stream could be taken for a short reply.
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
    """The chat models of the agents. Create it with `Models.open`; without models it is the embedded tier.

    Attributes:
        default: the model of agents without one of their own; None for none.
        agents: agent or group of `AGENTS` → its model.
    """

    default: BaseChatModel | None = None
    agents: Mapping[str, BaseChatModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.agents:
            _check_agent(name, ConfigError)
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
        """Open the models of a memory. Without models, LangChain is not imported.

        Args:
            model: the default, see `open_chat_model`.
            models: agent or group of agents → model; ``researcher`` is the group of planner, integrator and reflector,
                ``managers`` that of the six managers.
            base_url: the address of the server, for all models given by name.
            api_key: the key, for all models given by name.
            timeout: seconds for one request, for all models given by name.

        Raises:
            ConfigError: an agent is unknown (the message lists the known ones), or a model cannot be opened.
        """
        for name in models or {}:
            _check_agent(name, ConfigError)
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
        """The model of an agent: its own, otherwise its group's, otherwise the default; None where there is none.

        Raises:
            InvalidInputError: the agent is unknown; the message lists the known ones.
        """
        _check_agent(agent, InvalidInputError)
        group = AGENTS[agent]
        return self.agents.get(agent) or (self.agents.get(group) if group else None) or self.default

    def __bool__(self) -> bool:
        return self.default is not None or bool(self.agents)


def _check_agent(agent: object, error: type[ConfigError | InvalidInputError]) -> None:
    if agent not in AGENTS:
        raise error(f"There is no agent {agent!r}; the agents are {', '.join(AGENTS)}.")
