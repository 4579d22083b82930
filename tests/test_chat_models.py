"""Chat models by name, one an agent, and what is said when a key, a package or an agent is missing."""

from __future__ import annotations

# ruff: noqa: F811 - fixtures come by import
import dataclasses
import subprocess
import sys

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.models import AGENTS, Models, open_chat_model
from hexamem.models.chat_models import model_name, secrets_of

from .scripted_server import KEY, Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

pytestmark = pytest.mark.usefixtures("loopback_only")


def test_a_name_becomes_a_chat_model_that_answers(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content="Hello.")])
    model = open_chat_model("openai:gpt-5-mini", base_url=server.base_url, api_key=KEY)
    assert isinstance(model, ChatOpenAI)
    assert model.invoke("Hi").content == "Hello."
    assert (server.requests[0].body["model"], server.requests[0].key) == ("gpt-5-mini", KEY)


def test_a_server_of_ones_own_needs_no_key(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content="Hello.")])
    open_chat_model("openai:llama3.1:8b", base_url=server.base_url).invoke("Hi")
    assert server.requests[0].body["model"] == "llama3.1:8b"
    assert server.requests[0].key == "no-key-needed"


def test_a_key_and_an_address_of_the_environment_are_used(
    scripted_server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted_server([Reply(content="Hello.")])
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    open_chat_model("openai:gpt-5-mini").invoke("Hi")
    assert server.requests[0].key == KEY


def test_a_missing_key_is_told_by_its_variable() -> None:
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        open_chat_model("openai:gpt-5-mini")


def test_a_given_model_is_taken_as_it_is() -> None:
    model = FakeListChatModel(responses=["a"])
    assert open_chat_model(model) is model
    with pytest.raises(ConfigError, match="set them on it"):
        open_chat_model(model, base_url="http://localhost:1/v1")


@pytest.mark.parametrize("name", ["gpt-5-mini", "openai:", ":gpt", "", " "])
def test_a_name_without_provider_or_model_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="openai:gpt-5-mini"):
        open_chat_model(name)


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ConfigError, match="knows no provider 'nobody'"):
        open_chat_model("nobody:gpt-5-mini")


def test_a_provider_that_is_not_installed_is_told_by_its_package() -> None:
    with pytest.raises(ConfigError, match=r"pip install langchain-"):
        open_chat_model("groq:llama")


def test_something_else_is_refused() -> None:
    with pytest.raises(ConfigError, match="not int"):
        open_chat_model(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["localhost:11434", "ftp://localhost/v1", "http://", "http://["])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="is not an address"):
        open_chat_model("openai:llama", base_url=address)


def test_each_agent_has_its_own_model_its_groups_or_the_default() -> None:
    default, strong, planner = (FakeListChatModel(responses=[one]) for one in "abc")
    models = Models.open(default, {"researcher": strong, "planner": planner})
    assert models.of("planner") is planner
    assert models.of("reflector") is strong
    assert models.of("memorizer") is default
    assert Models(agents={"managers": strong}).of("vault_manager") is strong
    assert Models(agents={"managers": strong}).of("planner") is None


def test_an_unknown_agent_is_refused_with_the_list_of_those_there_are() -> None:
    model = FakeListChatModel(responses=["a"])
    for error, ask in (
        (ConfigError, lambda: Models.open(None, {"memoriser": model})),
        (ConfigError, lambda: Models(agents={"memoriser": model})),
        (InvalidInputError, lambda: Models(default=model).of("memoriser")),
    ):
        with pytest.raises(error, match=r"no agent 'memoriser'; the agents are intent_labeler, memorizer, .*chat"):
            ask()


def test_every_group_is_an_agent_name_too() -> None:
    assert {group for group in AGENTS.values() if group} <= set(AGENTS)


def test_one_name_is_one_client() -> None:
    models = Models.open("openai:a", {"memorizer": "openai:a", "planner": "openai:b"}, base_url="http://localhost:1/v1")
    assert models.of("memorizer") is models.of("chat")
    assert models.of("planner") is not models.of("chat")


def test_models_are_frozen_and_empty_ones_are_the_rules_tier() -> None:
    models = Models()
    assert not models
    assert models.of("chat") is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        models.default = None  # type: ignore[misc]
    with pytest.raises(TypeError):
        models.agents["chat"] = FakeListChatModel(responses=["a"])  # type: ignore[index]


def test_no_key_is_shown_and_all_keys_are_known_to_the_cleaner() -> None:
    models = Models.open("openai:gpt-5-mini", api_key=KEY)
    model = models.of("chat")
    assert model is not None
    assert KEY not in repr(models)
    assert KEY in secrets_of(model)
    assert KEY not in f"{secrets_of(model)!r} {secrets_of(model)} {[secrets_of(model)]}"
    assert model_name(model) == "'gpt-5-mini'"


def test_without_a_model_nothing_of_langchain_is_loaded() -> None:
    code = (
        "import sys\n"
        "from hexamem.models import Budget, Models, UsageMeter, count_tokens\n"
        "assert not Models.open(); count_tokens('hello'); Budget(calls=1); UsageMeter()\n"
        "print([one for one in sys.modules if one.split('.')[0] in ('langchain', 'langchain_core', 'openai')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
