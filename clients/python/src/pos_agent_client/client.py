"""A terminal on the network: the two drivers of the flows, one blocking and one asynchronous."""

from __future__ import annotations

import functools
import inspect
import ssl
from asyncio import sleep as _sleep_async
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from time import sleep as _sleep
from typing import Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

import httpx

from . import flows
from .tls import Ca, checked_url, trusting
from .wire import Answer, Call, Emit, Flow, Items, Listen, Lost, Read, Request, Sleep

P = ParamSpec("P")
T = TypeVar("T")

MOST_ANSWER = 16 * 1024 * 1024
"""The largest answer, in bytes. A list of a thousand transactions has about two million."""
CONNECT_S = 5.0
SILENCE_S = 25.0
"""The longest silence on a stream of events. The agent sends a comment each second."""
# The agent gives a till sixteen connections, and closes an idle one after ten seconds.
LIMITS = httpx.Limits(max_connections=12, max_keepalive_connections=4, keepalive_expiry=5)
_UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class _Base:
    """Address and token. Requests go straight to httpx's transport: no redirects, cookies, proxies or log."""

    def __init__(
        self, url: str, token: str | None, *, ca: Ca | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self._url = checked_url(url)
        self._context = trusting(ca) if self._url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity"} | dict(headers or {})
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token.strip()}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._url}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a terminal has a secret token and cannot be pickled")

    def _request(self, request: Request, read_s: float) -> httpx.Request:
        return httpx.Request(
            request.method,
            self._url + request.path,
            params=dict(request.query) or None,
            json=request.body,
            headers=self._headers | dict(request.headers),
            extensions={"timeout": {"connect": CONNECT_S, "pool": CONNECT_S, "write": 10.0, "read": read_s}},
        )


def _lost(error: httpx.TransportError, request: Request) -> Lost:
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        raise error
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return Lost(f"the terminal's certificate: {cause.verify_message}", False, wrong_certificate=True)
    may_be_done = request.method != "GET" and not isinstance(error, _UNREACHED)
    return Lost(str(error) or type(error).__name__, may_be_done)


def _too_long(request: Request) -> Lost:
    return Lost(f"the answer has more than {MOST_ANSWER} bytes", request.method != "GET")


def _as_method(method: T, flow: Callable[..., object]) -> T:
    """Gives a method the flow's name, text and signature."""
    functools.update_wrapper(method, flow)  # type: ignore[arg-type]
    signature = inspect.signature(flow)
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(parameters=[this, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method


def _blocking(flow: Callable[P, Flow[T]]) -> Callable[Concatenate[Terminal, P], T]:
    def method(terminal: Terminal, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return terminal.drive(flow(*args, **kwargs))

    return _as_method(method, flow)


def _iterating(items: Callable[P, Items[T]]) -> Callable[Concatenate[Terminal, P], Generator[T, None, None]]:
    def method(terminal: Terminal, /, *args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        return terminal.iterate(items(*args, **kwargs))

    return _as_method(method, items)


class Terminal(_Base):
    """A terminal, for a till that waits for each answer. Threads may share one.

    `url` is the front's address, or the agent's on the same computer. `ca` is the only CA that is trusted.
    `headers` go with each request, for example `Pos-Session`.
    """

    def __init__(
        self, url: str, token: str | None, *, ca: Ca | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(url, token, ca=ca, headers=headers)
        self._transport = httpx.HTTPTransport(verify=self._context, trust_env=False, limits=LIMITS)

    sell = _blocking(flows.sell)
    transact = _blocking(flows.transact)
    begin = _blocking(flows.begin)
    follow = _blocking(flows.follow)
    show = _blocking(flows.show)
    latest = _blocking(flows.latest)
    cancel = _blocking(flows.cancel)
    signature = _blocking(flows.signature)
    confirm = _blocking(flows.confirm)
    refund = _blocking(flows.refund)
    reverse = _blocking(flows.reverse)
    capture = _blocking(flows.capture)
    receipt = _blocking(flows.receipt)
    print_receipt = _blocking(flows.print_receipt)
    sales = _iterating(flows.sales)
    closes = _iterating(flows.closes)
    close = _blocking(flows.close)
    show_close = _blocking(flows.show_close)
    status = _blocking(flows.status)
    events = _iterating(flows.events)
    ask = _blocking(flows.ask)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end."""
        try:
            effect = next(flow)
            while True:
                try:
                    reply = self._do(effect)
                except BaseException as error:
                    effect = flow.throw(error)
                else:
                    effect = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    def iterate(self, items: Items[T]) -> Generator[T, None, None]:
        """Runs a flow that emits items. Closing the iterator closes its stream."""
        reply: Any = None
        response: httpx.Response | None = None
        chunks: Iterator[bytes] = iter(())
        try:
            while True:
                try:
                    effect = items.flow.send(reply)
                except StopIteration:
                    return
                reply = None
                match effect:
                    case Emit(item):
                        yield item
                    case Listen(request):
                        if response is not None:
                            response.close()
                        reply, response = self._listen(request)
                        chunks = response.iter_raw() if response is not None else iter(())
                    case Read():
                        try:
                            reply = next(chunks, Lost("the stream has ended", False))
                        except httpx.TransportError as error:
                            reply = Lost(str(error), False)
                    case _:
                        reply = self._do(effect)
        finally:
            if response is not None:
                response.close()

    def _do(self, effect: object) -> Any:
        match effect:
            case Request():
                return self._exchange(effect)
            case Sleep(seconds):
                _sleep(seconds)
            case Call(function, arguments):
                result = function(*arguments)
                if inspect.isawaitable(result):
                    if inspect.iscoroutine(result):
                        result.close()
                    raise TypeError(f"{function!r} is asynchronous: use AsyncTerminal")
                return result
        return None

    def _exchange(self, request: Request) -> Answer | Lost:
        try:
            response = self._transport.handle_request(self._request(request, request.answer_s))
            return self._whole(response, request)
        except httpx.TransportError as error:
            return _lost(error, request)

    def _whole(self, response: httpx.Response, request: Request) -> Answer | Lost:
        body = bytearray()
        try:
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > MOST_ANSWER:
                    return _too_long(request)
        finally:
            response.close()
        return Answer(response.status_code, response.headers, bytes(body))

    def _listen(self, request: Request) -> tuple[Answer | Lost, httpx.Response | None]:
        try:
            response = self._transport.handle_request(self._request(request, SILENCE_S))
            if response.status_code != 200:
                return self._whole(response, request), None
        except httpx.TransportError as error:
            return _lost(error, request), None
        return Answer(200, response.headers, b""), response


def _awaiting(flow: Callable[P, Flow[T]]) -> Callable[Concatenate[AsyncTerminal, P], Coroutine[Any, Any, T]]:
    async def method(terminal: AsyncTerminal, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await terminal.drive(flow(*args, **kwargs))

    return _as_method(method, flow)


def _aiterating(items: Callable[P, Items[T]]) -> Callable[Concatenate[AsyncTerminal, P], AsyncGenerator[T, None]]:
    def method(terminal: AsyncTerminal, /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        return terminal.iterate(items(*args, **kwargs))

    return _as_method(method, items)


class AsyncTerminal(_Base):
    """A terminal, for a till that uses asyncio. It has the methods of `Terminal`, and callbacks may be asynchronous."""

    def __init__(
        self, url: str, token: str | None, *, ca: Ca | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(url, token, ca=ca, headers=headers)
        self._transport = httpx.AsyncHTTPTransport(verify=self._context, trust_env=False, limits=LIMITS)

    sell = _awaiting(flows.sell)
    transact = _awaiting(flows.transact)
    begin = _awaiting(flows.begin)
    follow = _awaiting(flows.follow)
    show = _awaiting(flows.show)
    latest = _awaiting(flows.latest)
    cancel = _awaiting(flows.cancel)
    signature = _awaiting(flows.signature)
    confirm = _awaiting(flows.confirm)
    refund = _awaiting(flows.refund)
    reverse = _awaiting(flows.reverse)
    capture = _awaiting(flows.capture)
    receipt = _awaiting(flows.receipt)
    print_receipt = _awaiting(flows.print_receipt)
    sales = _aiterating(flows.sales)
    closes = _aiterating(flows.closes)
    close = _awaiting(flows.close)
    show_close = _awaiting(flows.show_close)
    status = _awaiting(flows.status)
    events = _aiterating(flows.events)
    ask = _awaiting(flows.ask)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.disconnect()

    async def disconnect(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end."""
        try:
            effect = next(flow)
            while True:
                try:
                    reply = await self._do(effect)
                except BaseException as error:
                    effect = flow.throw(error)
                else:
                    effect = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    async def iterate(self, items: Items[T]) -> AsyncGenerator[T, None]:
        """Runs a flow that emits items. Closing the iterator closes its stream."""
        reply: Any = None
        response: httpx.Response | None = None
        chunks: AsyncIterator[bytes] | None = None
        try:
            while True:
                try:
                    effect = items.flow.send(reply)
                except StopIteration:
                    return
                reply = None
                match effect:
                    case Emit(item):
                        yield item
                    case Listen(request):
                        if response is not None:
                            await response.aclose()
                        reply, response = await self._listen(request)
                        chunks = response.aiter_raw() if response is not None else None
                    case Read() if chunks is not None:
                        try:
                            reply = await anext(chunks, Lost("the stream has ended", False))
                        except httpx.TransportError as error:
                            reply = Lost(str(error), False)
                    case _:
                        reply = await self._do(effect)
        finally:
            if response is not None:
                await response.aclose()

    async def _do(self, effect: object) -> Any:
        match effect:
            case Request():
                return await self._exchange(effect)
            case Sleep(seconds):
                await _sleep_async(seconds)
            case Call(function, arguments):
                result = function(*arguments)
                return await result if inspect.isawaitable(result) else result
        return None

    async def _exchange(self, request: Request) -> Answer | Lost:
        try:
            response = await self._transport.handle_async_request(self._request(request, request.answer_s))
            return await self._whole(response, request)
        except httpx.TransportError as error:
            return _lost(error, request)

    async def _whole(self, response: httpx.Response, request: Request) -> Answer | Lost:
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MOST_ANSWER:
                    return _too_long(request)
        finally:
            await response.aclose()
        return Answer(response.status_code, response.headers, bytes(body))

    async def _listen(self, request: Request) -> tuple[Answer | Lost, httpx.Response | None]:
        try:
            response = await self._transport.handle_async_request(self._request(request, SILENCE_S))
            if response.status_code != 200:
                return await self._whole(response, request), None
        except httpx.TransportError as error:
            return _lost(error, request), None
        return Answer(200, response.headers, b""), response
