"""Ctrl-C in ``hexamem chat``: it stops the turn, and the conversation goes on."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory
from hexamem.cli import chat as chat_module
from hexamem.cli.app import run

from .scripted_server import Reply, Request, ScriptedServer

LONG = " ".join(f"word{number}" for number in range(200))
BY_MODEL = ("--model", "openai:scripted")
Chat = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def chat(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chat:
    """Types lines into ``hexamem chat``; gives what it printed, stderr last."""

    def typed(*lines: str, options: tuple[str, ...] = ()) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert run(["chat", "--user", "alice", "--home", str(home), *options]) == 0
        shown = capsys.readouterr()
        return shown.out + shown.err

    return typed


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A model that talks long of the first question, and briefly of others."""

    def script(request: Request) -> Reply:
        asked = str(request.messages[-1]["content"])
        return Reply(content=LONG if "long" in asked else "Briefly.", plain=True)

    with ScriptedServer(script) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        yield started


def said(home: Path) -> list[tuple[str, str]]:
    with Memory.open(home) as memory:
        return [(step.role, step.content) for step in memory.user("alice").steps()]


def interrupt_once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Raise an interrupt behind the first call of a function."""
    called = getattr(owner, name)
    left = [KeyboardInterrupt()]

    def interrupted(*given: Any, **named: Any) -> Any:
        result = called(*given, **named)
        if left:
            raise left.pop()
        return result

    monkeypatch.setattr(owner, name, interrupted)


def test_an_interrupt_in_mid_stream_stops_the_reply_and_keeps_the_message(
    chat: Chat, home: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_once(monkeypatch, chat_module, "_write_part")
    shown = chat("Tell me a long story.", "And now?", options=BY_MODEL)
    assert "stopped; your message is stored" in shown
    assert "word0" in shown
    assert "word150" not in shown
    assert "Briefly." in shown
    assert said(home) == [("user", "Tell me a long story."), ("user", "And now?"), ("assistant", "Briefly.")]


def test_an_interrupt_without_a_model_stops_the_turn_and_the_message_is_stored_once(
    chat: Chat, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_once(monkeypatch, chat_module.Chat, "_show_event")  # before it is told that the message is stored
    shown = chat("I live in Porto.", "Where do I live?")
    assert "stopped; your message is stored" in shown
    assert re.search(r"From memory:\n- “.*in Porto", shown)
    assert said(home) == [("user", "I live in Porto."), ("user", "Where do I live?")]


def test_a_message_that_the_turn_never_stored_is_stored_when_it_is_stopped(
    chat: Chat, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(chat_module.Chat, "_turn", interrupted)
    chat("I live in Porto.")
    assert said(home) == [("user", "I live in Porto.")]


def test_an_interrupt_while_it_learns_or_runs_a_command_does_not_end_the_conversation(
    chat: Chat, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_once(monkeypatch, chat_module.Chat, "show_learned")
    shown = chat("I'm allergic to walnuts.", "I like tea.")
    assert "stopped" in shown
    assert re.search(r"learned core: .*allergic to walnuts", shown)
    interrupt_once(monkeypatch, Memory, "user")  # opening: that is no turn, and ends the command
    monkeypatch.setattr(sys, "stdin", io.StringIO("I like figs.\n"))
    assert run(["chat", "--user", "alice", "--home", str(home)]) == 130
    assert said(home) == [("user", "I'm allergic to walnuts."), ("user", "I like tea.")]


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_ctrl_c_in_a_terminal_brings_the_prompt_back_at_once_and_at_the_prompt_ends_it(home: Path) -> None:
    asked = threading.Event()

    def slow(_: Request) -> Reply:
        asked.set()
        return Reply(content="At last.", plain=True, delay=120)

    with ScriptedServer(slow) as server:
        variables = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-scripted", "TERM": "dumb"}
        heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        program = f"{heard}; import sys; from hexamem.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", program, "chat", "--user", "alice", "--home", str(home), *BY_MODEL]
        ours, theirs = os.openpty()
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables)
        os.close(theirs)
        try:
            read_until(ours, "you> ")
            os.write(ours, b"Hello there.\n")
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            assert "stopped; your message is stored" in read_until(ours, "you> ")
            assert time.monotonic() - began < 30  # and not when the model has answered
            os.write(ours, b"/memory\n")
            assert "1 message" in read_until(ours, "you> ")
            assert interrupted(process) == 130  # nor does the end wait for the model
        finally:
            process.kill()
            process.wait()
            os.close(ours)
    assert said(home) == [("user", "Hello there.")]


def interrupted(process: subprocess.Popen[bytes]) -> int:
    """The exit code after Ctrl-C, pressed again where it fell between the prompt and the wait for a line, which Python's
    line editor does not hear."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(8)
    return process.wait(8)


def read_until(terminal: int, mark: str) -> str:
    """What stands on a terminal, up to a mark that is not the line just typed."""
    shown, end = "", time.monotonic() + 90
    while mark not in shown:
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4_096).decode(errors="replace")
    return shown
