"""A scripted OpenAI-compatible server on loopback, to stand behind the real ``ChatOpenAI``.

It answers ``/v1/chat/completions`` (whole and as a stream, with tools and response formats), checks schemas by the rules of
OpenAI's strict mode, and fails as its script asks. A script is a function ``(request) -> Reply`` or a list of replies, of
which the last one repeats::

    with ScriptedServer([Reply(content={"scope": "travel"})]) as server:
        model = server.chat_model()

In tests import the fixtures: ``from .scripted_server import loopback_only, scripted_server  # noqa: F401``. A server
starts in a millisecond, a client takes more: where many replies are tried, use one server and ``server.follow(script)``.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pytest
from langchain_openai import ChatOpenAI

KEY = "sk-scripted-0123456789abcdefSECRET"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One parsed request."""

    number: int  # from 0, over all requests of the server
    body: dict[str, Any]
    key: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(str(message.get("content")) for message in self.messages)

    @property
    def method(self) -> Literal["json_schema", "function_calling", "json_mode", "text"]:
        """How structured output is asked for."""
        if self.body.get("tools"):
            return "function_calling"
        kind = (self.body.get("response_format") or {}).get("type")
        return {"json_schema": "json_schema", "json_object": "json_mode"}.get(kind, "text")

    @property
    def manager(self) -> str | None:
        """The kind of items, where an agent with the tools of a manager asks."""
        names = [tool["function"]["name"] for tool in self.body.get("tools") or ()]
        known = re.search(r"^Known (\w+) items:$", self.text, re.M) if "search_memory" in names else None
        return known.group(1) if known else None

    @property
    def results(self) -> list[str]:
        """The answers of the tools so far."""
        return [str(message["content"]) for message in self.messages if message["role"] == "tool"]

    @property
    def name(self) -> str | None:
        """The name of the tool or schema that is asked for; of a manager's agent that of the agent."""
        if self.manager is not None:
            return f"{self.manager}_manager"
        if self.method == "function_calling":
            return self.body["tools"][0]["function"]["name"]
        return self.body["response_format"]["json_schema"]["name"] if self.method == "json_schema" else None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The server's reply to one request. With tools, ``content`` becomes the arguments of the tool asked for."""

    content: object = ""  # a text, sent as it is, or an object, sent as JSON
    tool: str | None = None  # another tool than the one asked for
    plain: bool = False  # text even if a tool is asked for
    calls: Sequence[tuple[str, object]] = ()  # of an agent's tools: names and arguments
    refusal: str | None = None
    finish_reason: str | None = None
    choices: Literal["one", "none", "null"] = "one"
    status: int = 200
    error: str = ""
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: Literal["no", "before", "middle"] = "no"  # where the connection ends
    body: bytes | None = None  # sent in place of everything
    content_type: str = "application/json"
    usage: tuple[int, int] | None = (-1, -1)  # tokens read and written; -1 counts words; None reports none

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)


Script = Callable[[Request], Reply] | Sequence[Reply]


class ScriptedServer:
    """The server; a context manager. ``requests`` is the log of what was asked, ``tokens`` what was reported."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.tokens = 0
        self.lock, self.stop = threading.Lock(), threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"scripted": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        """The number of chat requests."""
        return len(self.requests)

    def chat_model(self, **settings: Any) -> ChatOpenAI:
        """The real client, pointed here."""
        return ChatOpenAI(**{"model": "scripted", "base_url": self.base_url, "api_key": KEY, "timeout": 10, **settings})

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def follow(self, script: Script) -> None:
        """Go on with another script, with an empty log."""
        with self.lock:
            self.script, self.tokens = script, 0
            self.requests.clear()


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        server, body = self.scripted, json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        with server.lock:
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            request = Request(number=len(server.requests), body=body, key=key)
            server.requests.append(request)
        if self.path != "/v1/chat/completions":
            reply = Reply(status=404, error=f"Unknown request URL: POST {self.path}")
        elif problem := refused_by_strict_mode(body):
            reply = Reply(status=400, error=problem)
        elif callable(server.script):
            reply = server.script(request)
        else:
            reply = server.script[min(request.number, len(server.script) - 1)]
        server.stop.wait(reply.delay)  # not slower than the test
        if reply.cut == "before":
            self._hang_up()
        elif reply.body is not None:
            self._send(reply, reply.body, reply.content_type)
        elif reply.status != 200:
            kind = "server_error" if reply.status >= 500 else "invalid_request_error"
            message = reply.error or "Scripted failure"
            error = {"message": message, "type": kind, "param": None, "code": reply.error_code}
            self._send(reply, json.dumps({"error": error}).encode())
        elif body.get("stream"):
            events = [f"data: {json.dumps(event)}\n\n" for event in self._events(request, reply)]
            self._send(reply, "".join([*events, "data: [DONE]\n\n"]).encode(), "text/event-stream")
        else:
            message, finish = self._message(request, reply)
            choices = {"one": [self._choice("message", message, finish)], "none": [], "null": None}[reply.choices]
            frame = {**self._frame(request, "chat.completion"), "choices": choices}
            usage = self._usage(request, reply)
            self._send(reply, json.dumps(frame if usage is None else {**frame, "usage": usage}).encode())

    def _message(self, request: Request, reply: Reply) -> tuple[dict[str, Any], str]:
        """The message, and why it ends."""
        if reply.refusal is not None:
            return {"role": "assistant", "content": None, "refusal": reply.refusal}, reply.finish_reason or "stop"
        name = reply.tool or (request.name if request.method == "function_calling" else None)
        calls = reply.calls or ([] if name is None or reply.plain else [(name, reply.text)])
        if not calls:
            return {"role": "assistant", "content": reply.text, "refusal": None}, reply.finish_reason or "stop"
        made = [
            {
                "id": f"call_{request.number}_{place}",
                "type": "function",
                "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for place, (tool, given) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": made}
        return message, reply.finish_reason or "tool_calls"

    def _usage(self, request: Request, reply: Reply) -> dict[str, int] | None:
        if reply.usage is None:
            return None
        texts = ("".join(str(message.get("content")) for message in request.messages), reply.text)
        read, written = (count if count >= 0 else _words(text) for count, text in zip(reply.usage, texts, strict=True))
        with self.scripted.lock:
            self.scripted.tokens += read + written
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}

    def _frame(self, request: Request, kind: str) -> dict[str, Any]:
        model = request.body.get("model", "scripted")
        return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 1_700_000_000, "model": model}

    def _choice(self, key: str, value: object, finish: str | None) -> dict[str, Any]:
        return {"index": 0, key: value, "logprobs": None, "finish_reason": finish}

    def _events(self, request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
        """The message as a stream, its content and arguments in pieces."""
        frame = self._frame(request, "chat.completion.chunk")
        message, finish = self._message(request, reply)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": message.get("refusal")}]
        for index, call in enumerate(message.get("tool_calls", [])):
            name, arguments = call["function"].values()
            deltas.append({"tool_calls": [{**call, "index": index, "function": {"name": name, "arguments": ""}}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in _pieces(arguments)
            ]
        deltas += [{"content": piece} for piece in _pieces(message.get("content") or "")]
        for delta in deltas:
            yield {**frame, "choices": [self._choice("delta", delta, None)]}
        yield {**frame, "choices": [self._choice("delta", {}, finish)]}
        usage = self._usage(request, reply)
        if usage is not None and (request.body.get("stream_options") or {}).get("include_usage"):
            yield {**frame, "choices": [], "usage": usage}

    def _send(self, reply: Reply, data: bytes, content_type: str = "application/json") -> None:
        # Closed each time: a client that is used from several event loops keeps no connection of a dead one.
        head = {"Content-Type": content_type, "Content-Length": str(len(data)), "Connection": "close", **reply.headers}
        with suppress(OSError):  # the client went away, as some tests want
            self.send_response(reply.status)
            for name, value in head.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut == "middle" else data)
            self.wfile.flush()
        self._hang_up() if reply.cut == "middle" else None
        self.close_connection = True

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _words(text: str) -> int:
    """A rough count of tokens: words, marks, and each Chinese character."""
    return len(re.findall(r"[\u2e80-\u9fff]|\w+?(?=\W|[\u2e80-\u9fff]|$)|[^\w\s]", text))


def _pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


# OpenAI's strict mode. Written apart from hexamem.models.schemas, so that one checks the other:
# https://platform.openai.com/docs/guides/structured-outputs

_NOT_PERMITTED = ("oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "prefixItems")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refused_by_strict_mode(body: Mapping[str, Any]) -> str | None:
    """Why OpenAI refuses the schemas of a request, or None."""
    kind = body.get("response_format") or {}
    if kind.get("type") == "json_object" and "json" not in json.dumps(body["messages"]).lower():
        return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    tools = [tool["function"] for tool in body.get("tools") or ()]
    for form in [*tools, *([kind["json_schema"]] if kind.get("type") == "json_schema" else [])]:
        if not _NAME.fullmatch(form["name"]):
            return f"Invalid name: string does not match pattern: {form['name']!r}."
        schema = form.get("parameters", form.get("schema"))
        if form.get("strict") and (fault := next(_faults(schema), None)):
            return f"Invalid schema '{form['name']}': {fault}"
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["function"]["name"] not in [tool["name"] for tool in tools]:
        return f"Tool choice '{choice['function']['name']}' not found in 'tools' parameter."
    return None


def _faults(node: Any, place: str = "schema", depth: int = 1) -> Iterator[str]:
    """The rules that a part of a schema breaks."""
    if not isinstance(node, dict) or depth > 10:
        yield f"{place} is no object, or nested deeper than 10 levels"
        return
    yield from (f"{place}: '{word}' is not permitted" for word in (*_NOT_PERMITTED, "default") if word in node)
    if "$ref" in node and len(node) > 1:
        yield f"{place}: $ref cannot have other keywords beside it"
    if not {"$ref", "type", "enum", "const", "anyOf"} & node.keys() or (depth == 1 and node.get("type") != "object"):
        yield f"{place} must have a type, at the root 'object'"
    properties = node.get("properties", {})
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        yield f"{place}: 'additionalProperties' is required to be supplied and to be false"
    if node.get("type") == "object" and set(properties) != set(node.get("required", ["missing"])):
        yield f"{place}: 'required' is required to be an array including every key in properties"
    if node.get("type") == "array" and "items" not in node:
        yield f"{place}: array schema missing items"
    items = {"[]": node["items"]} if "items" in node else {}
    options = {str(number): option for number, option in enumerate(node.get("anyOf", ()))}
    for name, part in (*properties.items(), *node.get("$defs", {}).items(), *items.items(), *options.items()):
        yield from _faults(part, f"{place}.{name}", depth + 1)


@pytest.fixture
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection but to this machine, no key and no proxy of the surroundings."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_API_KEY", "LANGSMITH_TRACING"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"the test blocks the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


ServerFactory = Callable[[Script], ScriptedServer]


@pytest.fixture
def scripted_server(loopback_only: None) -> Iterator[ServerFactory]:
    """Starts servers: ``server = scripted_server([Reply(content={…})])``; they stop with the test."""
    with ExitStack() as started:
        yield lambda script: started.enter_context(ScriptedServer(script))
