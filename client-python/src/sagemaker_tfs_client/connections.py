"""Connections whose answers have to come within a request's time, all of it: urllib3's limit is for each read alone."""

from __future__ import annotations

import http.client
import io
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

_CONNECTIONS = 32
_lock = threading.Lock()
_pools: list[urllib3.PoolManager] = []
#: The end of the time of the request that this thread sends, by the monotonic clock.
_request = threading.local()


def pool() -> urllib3.PoolManager:
    """Connections are kept and shared by threads."""
    with _lock:
        if not _pools:
            manager = urllib3.PoolManager(maxsize=_CONNECTIONS)
            manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
            _pools.append(manager)
        return _pools[0]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Answers to requests that are sent in here end with urllib3's ReadTimeoutError when the time is over: their status,
    headers, body and trailers, and what comes before them (`100 Continue`). It holds for a body that is read later, too.
    """
    _request.deadline = time.monotonic() + seconds
    try:
        yield
    finally:
        _request.deadline = None


class _Received(io.RawIOBase):
    """What comes through a socket until a moment."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("the time of the request is over")
        self._sock.settimeout(remaining)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        deadline = getattr(_request, "deadline", None)
        if deadline is not None:
            self.fp.close()
            self.fp = io.BufferedReader(_Received(sock, deadline))

    def _read_status(self) -> tuple[str, int, str]:
        # All but 101 come before an answer (RFC 9110, 15.2). http.client skips 100 alone, and takes another for the
        # answer, so the next request on the connection would get this one's.
        version, status, reason = super()._read_status()  # type: ignore[misc]
        is_interim = 100 <= status < 200 and status != http.client.SWITCHING_PROTOCOLS
        return version, http.client.CONTINUE if is_interim else status, reason


class _HttpConnection(HTTPConnection):
    response_class = _Response


class _HttpsConnection(HTTPSConnection):
    response_class = _Response


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection
