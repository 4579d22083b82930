"""Chat models by name, one per agent, and the errors for a missing key, package or agent."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.models import AGENTS, Models, open_chat_model
from hexamem.models.chat_models import model_name, secrets_of

from .scripted_server import KEY, Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

pytestmark = pytest.mark.usefixtures("loopback_only")
FAKE = FakeListChatModel(responses=["a"])


def test_a_name_becomes_a_model_with_the_key_and_address_given_or_of_the_environment_and_a_local_server_needs_no_key(
    scripted_server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted_server([Reply(content="Hello.")])
    assert open_chat_model("openai:gpt-5-mini", base_url=server.base_url, api_key=KEY).invoke("Hi").content == "Hello."
    open_chat_model("openai:llama3.1:8b", base_url=server.base_url).invoke("Hi")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    open_chat_model("openai:gpt-5-mini").invoke("Hi")
    sent = [(request.body["model"], request.key) for request in server.requests]
    assert sent == [("gpt-5-mini", KEY), ("llama3.1:8b", "no-key-needed"), ("gpt-5-mini", KEY)]
    assert open_chat_model(FAKE) is FAKE


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("openai:gpt-5-mini", {}, "set OPENAI_API_KEY"),
        (FAKE, {"base_url": "http://localhost:1/v1"}, "set them on it"),
        *((name, {}, "openai:gpt-5-mini") for name in ("gpt-5-mini", "openai:", ":gpt", " ")),
        ("nobody:gpt-5-mini", {}, "knows no provider 'nobody'"),
        ("groq:llama", {}, r"pip install langchain-"),
        (5, {}, "not int"),
        *(
            ("openai:llama", {"base_url": address}, "is not an address")
            for address in ("localhost:11434", "ftp://localhost/v1", "http://", "http://[")
        ),
    ],
)
def test_a_model_that_cannot_be_opened_is_refused_with_advice(
    model: Any, options: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        open_chat_model(model, **options)


def test_each_agent_has_its_own_model_that_of_its_group_or_the_default_and_one_name_is_one_client() -> None:
    default, strong, planner = (FakeListChatModel(responses=[reply]) for reply in "abc")
    models = Models.open(default, {"researcher": strong, "planner": planner})
    assert [models.of(agent) for agent in ("planner", "reflector", "meta_manager")] == [planner, strong, default]
    assert Models(agents={"managers": strong}).of("vault_manager") is strong
    assert Models(agents={"managers": strong}).of("planner") is None
    assert {group for group in AGENTS.values() if group} <= set(AGENTS)
    assert (bool(Models()), Models().of("chat")) == (False, None)
    models = Models.open(
        "openai:a", {"meta_manager": "openai:a", "planner": "openai:b"}, base_url="http://localhost:1/v1"
    )
    assert models.of("meta_manager") is models.of("chat") is not models.of("planner")
    for error, ask in (
        (ConfigError, lambda: Models.open(None, {"memoriser": FAKE})),
        (ConfigError, lambda: Models(agents={"memoriser": FAKE})),
        (InvalidInputError, lambda: Models(default=FAKE).of("memoriser")),
    ):
        with pytest.raises(error, match=r"no agent 'memoriser'; the agents are meta_manager, .*chat"):
            ask()


def test_no_key_is_shown_and_all_keys_are_known_to_the_cleaner() -> None:
    models = Models.open("openai:gpt-5-mini", api_key=KEY)
    model = models.of("chat")
    assert model is not None
    assert KEY not in repr(models)
    assert KEY in secrets_of(model)
    assert KEY not in f"{secrets_of(model)!r} {secrets_of(model)} {[secrets_of(model)]}"
    assert model_name(model) == "'gpt-5-mini'"


@pytest.mark.embedded
def test_without_a_model_no_chat_model_is_loaded(tmp_path: Path) -> None:
    code = """
import sys
from hexamem.models import Budget, Models, UsageMeter, count_tokens

def loaded(*names):
    return [name for name in sys.modules if name.startswith(names)]

assert not Models.open(); count_tokens('hello'); Budget(calls=1); UsageMeter()
print(loaded('langchain', 'openai'))
from hexamem import Memory, Settings
with Memory.open(sys.argv[1], embedder='static', settings=Settings(background=False, mode='off')) as memory:
    memory.user('a').remember('We fly to Porto on Friday.'); memory.user('a').recall('Porto')
print(loaded('langchain_core.language_models', 'langchain_openai', 'openai'))
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "home"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]
