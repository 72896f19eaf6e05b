"""The collector's server: the page, the reports, the results. It keeps no log of requests, and no address.

The body of every answer to a report is JSON of one size; status lines and headers differ. A request is bounded before
it is read: a body has exactly the length of its survey, or is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bruit.collector.intake import Busy, Intake
from bruit.collector.limits import AddressLimit, SurveyLimit
from bruit.collector.notice_page import is_for_people, notice
from bruit.collector.open_survey import Arrival, OpenSurvey, link_hash
from bruit.collector.store import Outcome, Store, StoredReport, StoreInUse
from bruit.collector.wording import accepted
from bruit.errors import DataError, FormatError, ParameterError, translated
from bruit.pages.policy import security_policy

if TYPE_CHECKING:
    from bruit.collector.results import SurveyResults

__all__ = ["Limits", "application"]

#: How long a body may take to arrive, and how long a survey is served without asking the store, in seconds.
_READ_TIME = 20.0
_FRESH = 3.0
#: How many bytes the body of every answer to a report has.
ANSWER_BYTES = 160
#: How many times longer a page of results is served than making it took, before it is made again.
_IDLE = 10
#: How many surveys are held in memory.
_MOST_DESKS = 200

_TITLES = {
    200: "This report was counted before, and is counted once.",
    201: "This report was counted.",
    400: "This is no request that the collector understands.",
    403: "This link was used before, or is not one of this survey.",
    404: "There is no such survey here, or it is not open yet.",
    405: "The collector does not do this.",
    408: "The report did not arrive in time. Send it again.",
    409: "Another report was counted under this number.",
    410: "This survey is closed.",
    413: "The report is longer than a report of this survey.",
    415: "A report must be sent as application/json.",
    422: "This is no report of this survey.",
    426: "The collector must be reached over https.",
    429: "Too many requests. Send the same report again later.",
    500: "The collector has a defect. The report was not counted.",
    503: "The collector is busy. Send the same report again later.",
}

#: On every answer.
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
#: On answers that are no page: nothing may be done with them.
_NO_PAGE = {**_HEADERS, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
#: On pages, besides their own policy.
_PAGE = {
    **_HEADERS,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
}
_STRICT_TRANSPORT = {"Strict-Transport-Security": "max-age=31536000"}

_REPORT = re.compile("/s/([a-z0-9-]{1,40})/report")
_NAME = re.compile("[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LOG = logging.getLogger("bruit.collector")


@dataclass(frozen=True)
class Limits:
    """How many requests are taken.

    Parameters
    ----------
    per_second
        Of one survey, per second; ten seconds' worth may come at once.
    per_address
        Of one address in ten minutes. A school may stand behind one address.
    """

    per_second: float = 1_000.0
    per_address: int = 3_000


def application(
    store: Store,
    *,
    limits: Limits | None = None,
    https: bool = False,
    behind_proxy: bool = False,
    insecure_demo: bool = False,
) -> Starlette:
    """The server as an ASGI application.

    Parameters
    ----------
    store
        Where surveys and reports are.
    limits
        How many requests are taken.
    https
        Whether people reach it over https, so that browsers may be told to insist on it.
    behind_proxy
        Whether a proxy stands before it, which must say for every request that it came over https.
    insecure_demo
        Whether pages work over plain http from other machines.
    """
    server = _Server(store, limits or Limits(), https, behind_proxy, insecure_demo)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await server.stop()
        store.disconnect()

    routes = [
        Route("/s/{name}/results", server.results, methods=["GET"]),
        Route("/s/{name}/report", server.is_open, methods=["GET"]),
        Route("/s/{name}", server.page, methods=["GET"]),
        Route("/health", server.health, methods=["GET"]),
    ]
    handlers: Mapping[Any, Any] = {404: server.unknown, 405: server.not_done, Exception: server.defect}
    front = [Middleware(_Reports, server=server)]
    app = Starlette(routes=routes, middleware=front, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # an address with a slash more is another one, and no header names where to go
    return app


class _Reports:
    """Takes reports before anything is routed: theirs is the one way that must be short."""

    def __init__(self, app: ASGIApp, server: _Server) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        match = _REPORT.fullmatch(scope["path"]) if is_post else None
        if match is None:
            await self._app(scope, receive, send)
        else:
            await self._server.send(await self._server.report(match[1], scope, receive), send)


class _Refused(Exception):
    """A request ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class _Held:
    """A open_survey, its limit, and since when it has not been compared with the store."""

    def __init__(self, open_survey: OpenSurvey, limit: SurveyLimit) -> None:
        self.open_survey = open_survey
        self.limit = limit
        self.since = time.monotonic()
        self.closed = open_survey.opened.closed
        self.closing: asyncio.Future[None] | None = None
        self.look: _Look | None = None
        self.looking: asyncio.Future[_Look] | None = None


class _Look(NamedTuple):
    """A page of results by language, what it shows, when it was made, and how many seconds that took."""

    results: SurveyResults
    pages: Mapping[str, bytes]
    policy: str
    since: float
    cost: float


class _Server:
    """What the routes do."""

    def __init__(self, store: Store, limits: Limits, https: bool, behind_proxy: bool, insecure_demo: bool) -> None:
        self.intake = Intake(store)
        self._store = store
        self._limits = limits
        self._addresses = AddressLimit(limits.per_address)
        self._behind_proxy = behind_proxy
        self._insecure_demo = insecure_demo
        self._pages = ThreadPoolExecutor(1, thread_name_prefix="bruit-results")
        self._held: dict[str, _Held] = {}
        self._limits_of: dict[str, SurveyLimit] = {}
        self._renewals: dict[str, asyncio.Future[_Held | None]] = {}
        self._transport = _STRICT_TRANSPORT if https else {}
        self._problems = {status: self._problem(status) for status in _TITLES}

    async def stop(self) -> None:
        """Wait until all that came is committed."""
        await self.intake.stop()
        self._pages.shutdown(cancel_futures=True)

    # Routes.

    async def report(self, name: str, scope: Scope, receive: Receive) -> int:
        """Take a report; the status to answer with."""
        try:
            return int(await self._take(name, scope, receive))
        except _Refused as refused:
            return refused.status
        except Busy:
            return 503
        except TimeoutError:
            return 408

    async def send(self, status: int, send: Send) -> None:
        """Answer with a status."""
        answer = self._problems[status]
        await send({"type": "http.response.start", "status": status, "headers": answer.raw_headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def page(self, request: Request) -> Response:
        """The respondent's page."""
        try:
            self._check_transport(request.scope)
            held = await self._hold(request.path_params["name"])
        except _Refused as refused:
            return self._refuse(request, refused.status)
        if held.open_survey.is_before():
            return self._refuse(request, 404, held.open_survey.survey.opens)
        try:
            content = held.open_survey.page
        except ParameterError:
            _log_unserved(held.open_survey.name)
            return self._refuse(request, 404)
        return self._html(content, security_policy(content))

    async def is_open(self, request: Request) -> Response:
        """Whether reports are taken, for a page that learns it before it asks: 204, or as a report would be refused."""
        try:
            self._check_transport(request.scope)
            held = await self._hold(request.path_params["name"])
        except _Refused as refused:
            return self._answer(refused.status)
        page = request.query_params.get("survey", held.open_survey.survey.identity)
        if (
            held.open_survey.is_before() or page != held.open_survey.survey.identity
        ):  # the page of an earlier survey of this name
            return self._answer(404)
        if held.closed or held.open_survey.is_over():
            return self._answer(410)
        return Response(status_code=204, headers={**_NO_PAGE, **self._transport})

    async def results(self, request: Request) -> Response:
        """The results, for holders of the token, or for everybody where the survey says so."""
        try:
            self._check_transport(request.scope)
            if not self._addresses.allows(_address(request.scope)):
                raise _Refused(429)
            held = await self._hold(request.path_params["name"], fresh=True)
        except _Refused as refused:
            return self._refuse(request, refused.status)
        opened = held.open_survey.opened
        token = link_hash(request.query_params.get("token", ""))
        if not opened.public and not hmac.compare_digest(token, opened.token):
            return self._refuse(request, 404)
        try:
            look = await self._look(held)
        except ParameterError:  # deleted in this moment
            return self._refuse(request, 404)
        wanted = accepted(request.headers.get("accept-language", ""))
        language = next((language for language in wanted if language in look.pages), next(iter(look.pages)))
        return self._html(look.pages[language], look.policy)

    async def health(self, request: Request) -> Response:
        """Whether it runs."""
        return Response(b"ok\n", media_type="text/plain", headers={**_NO_PAGE, **self._transport})

    async def unknown(self, request: Request, error: Exception) -> Response:
        """Nothing is here."""
        return self._refuse(request, 404)

    async def not_done(self, request: Request, error: Exception) -> Response:
        """Another method than the route has."""
        return self._refuse(request, 405)

    async def defect(self, request: Request, error: Exception) -> Response:
        """An error that nobody expected: its kind is logged, and nothing else of it."""
        _LOG.error("A defect of bruit: %s.", type(error).__name__)
        return self._refuse(request, 500)

    # Results.

    async def _look(self, held: _Held) -> _Look:
        """A page of results: the last one while it is young beside what it cost, else the one that all wait for."""
        if held.look is not None and time.monotonic() - held.look.since < _IDLE * held.look.cost:
            return held.look
        if held.looking is None or held.looking.done():
            held.looking = asyncio.get_running_loop().run_in_executor(self._pages, _looked, self._store, held)
        held.look = await asyncio.shield(held.looking)
        return held.look

    # Reports.

    async def _take(self, name: str, scope: Scope, receive: Receive) -> Outcome:
        self._check_transport(scope)
        if not self._addresses.allows(_address(scope)):  # before it takes anything of what the survey may take
            raise _Refused(429)
        held = await self._hold(name)
        if not held.limit.allows():
            raise _Refused(429)
        open_survey = held.open_survey
        if open_survey.is_before():
            raise _Refused(404)
        if open_survey.is_over() and not held.closed:
            await self._close(held)
        async with asyncio.timeout(_READ_TIME):
            body = await _body(scope, receive, open_survey.survey.body_length)
        arrival: Arrival | StoredReport | None = None
        with suppress(DataError):
            arrival = open_survey.read(body)
        if arrival is None and open_survey.survey.has_rounds:
            with suppress(DataError):
                arrival = open_survey.read_claim(body)
        return await self.intake.take(open_survey, arrival)

    async def _close(self, held: _Held) -> None:
        """Close a survey whose time has passed: once, however many reports come, which all wait for it."""
        if held.closing is None or held.closing.done():  # that it is done and not closed means that it failed
            held.closing = asyncio.ensure_future(asyncio.to_thread(self._close_in_store, held.open_survey.name))
        with translated((Exception,), lambda _: Busy("The survey could not be closed: send the report again later.")):
            await asyncio.shield(held.closing)
        held.closed = True

    def _close_in_store(self, name: str) -> None:
        """Close a survey unless another process did; that its journal is in use changes nothing for a report."""
        opened = self._store.survey(name)
        if opened is not None and not opened.closed:
            with suppress(StoreInUse):
                self._store.close(name)

    def _check_transport(self, scope: Scope) -> None:
        """Behind a proxy, only what came to it over https."""
        if self._behind_proxy and scope["scheme"] != "https":
            raise _Refused(426)

    async def _hold(self, name: str, *, fresh: bool = False) -> _Held:
        """The survey that a request names, as of a few seconds ago at most."""
        held = self._held.get(name)
        if held is not None and not fresh and time.monotonic() - held.since < _FRESH:
            return held
        if not _NAME.fullmatch(name):
            raise _Refused(404)
        if name not in self._renewals:
            self._renewals[name] = asyncio.ensure_future(self._renew(name))
            self._renewals[name].add_done_callback(lambda _: self._renewals.pop(name))
        held = await asyncio.shield(self._renewals[name])
        if held is None:
            raise _Refused(404)
        return held

    async def _renew(self, name: str) -> _Held | None:
        """The survey as the store has it now; requests meanwhile wait for the same."""
        opened = await asyncio.to_thread(self._store.survey, name)
        held = self._held.pop(name, None)
        if opened is None:
            self._limits_of.pop(name, None)
            return None
        if held is None or held.open_survey.opened != opened:
            try:
                open_survey = await asyncio.to_thread(lambda: OpenSurvey(opened, insecure_demo=self._insecure_demo))
            except FormatError:
                _log_unserved(name)
                return None
            limit = self._limits_of.setdefault(name, SurveyLimit(self._limits.per_second))
            held = _Held(open_survey, limit)
        held.since = time.monotonic()
        self._held[name] = held
        if len(self._held) > _MOST_DESKS:  # the one that was wanted longest ago
            self._held.pop(next(iter(self._held)))
        return held

    # Answers.

    def _answer(self, status: int) -> Response:
        return self._problems[status]

    def _problem(self, status: int) -> Response:
        text = json.dumps({"status": status, "title": _TITLES[status]}, separators=(",", ":"))
        kind = "application/json" if status < 400 else "application/problem+json"
        return Response(text.ljust(ANSWER_BYTES).encode(), status, {**_NO_PAGE, **self._transport}, kind)

    def _refuse(self, request: Request, status: int, opens: datetime | None = None) -> Response:
        """A short page for a browser, and JSON for a program."""
        if not is_for_people(request.headers):
            return self._answer(status)
        content = notice(status, request.scope["path"], request.headers, opens)
        return self._html(content, security_policy(content), status)

    def _html(self, content: bytes, policy: str, status: int = 200) -> Response:
        headers = {**_PAGE, **self._transport, "Content-Security-Policy": policy}
        return Response(content, status, media_type="text/html; charset=utf-8", headers=headers)


def _log_unserved(name: str) -> None:
    """Log that a survey in the store is not served; bruit does not keep such surveys, so that something else did."""
    _LOG.error("The survey %s in the store cannot be served: bruit survey open says why when it starts.", name)


def _numbers(shown: SurveyResults) -> tuple[Any, ...]:
    """What a page shows besides estimates."""
    return shown.totals, shown.links, shown.closed, shown.undecided


def _looked(store: Store, held: _Held) -> _Look:
    """The page of results as of now; the last one if nothing has changed, its estimates if only totals have."""
    from bruit.collector.results import results
    from bruit.collector.results_page import pages

    since, last = time.monotonic(), held.look
    shown = results(store, held.open_survey, last and last.results)
    if last is not None and shown.rounds is last.results.rounds and _numbers(shown) == _numbers(last.results):
        return last._replace(since=time.monotonic())
    contents = pages(shown, public=held.open_survey.opened.public)
    now = time.monotonic()
    return _Look(shown, contents, security_policy(next(iter(contents.values()))), now, now - since)


async def _body(scope: Scope, receive: Receive, length: int) -> bytes:
    """The body of a report, read no further than a report is long."""
    fields: dict[bytes, bytes] = dict(scope["headers"])
    if fields.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        raise _Refused(415)
    if b"transfer-encoding" in fields:  # no page sends one, and a proxy may read it differently
        raise _Refused(400)
    declared = fields.get(b"content-length", b"0")
    if not declared.isdigit() or int(declared[:12]) > length:
        raise _Refused(413)
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the client hung up
            raise _Refused(400)
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > length:
            raise _Refused(413)
    return body


def _address(scope: Scope) -> str:
    """Where a request comes from, for the limit only."""
    client = scope.get("client")
    return client[0] if client else ""
