"""A runtime at a plain URL."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from io import BytesIO
from urllib.parse import quote, urlsplit

import urllib3
from urllib3.exceptions import (
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
    TimeoutError as TimedOut,
)

from .attributes import HEADER
from .connections import pool, within
from .decoding import decoded
from .errors import (
    ErrorAnswer,
    PredictionError,
    answer_cut,
    answer_too_large,
    container_error,
    out_of_memory,
    retry_after,
    timed_out,
    unreadable,
)
from .targets import Incoming, Request, Url

_CHUNK = 64 * 1024
#: Bytes of an error that are read.
_MAX_ERROR_BYTES = 1024 * 1024
#: Characters of another address that a message repeats.
_MAX_LOCATION = 500


class UrlTransport:
    """POST to the runtime's address; connections are kept and shared by threads."""

    retries_itself = False

    def __init__(self, target: Url, target_model: str | None) -> None:
        self.address = _invocations(target.url, target_model)
        self._pool = pool()

    def send(self, request: Request, stream: bool) -> Incoming:
        headers = {"Content-Type": request.content_type}
        if request.accept:
            headers["Accept"] = request.accept
        if request.custom_attributes:
            headers[HEADER] = request.custom_attributes
        try:
            with within(request.timeout_seconds):
                response = self._pool.request(
                    "POST",
                    self.address,
                    body=request.body,
                    headers=headers,
                    timeout=urllib3.Timeout(total=request.timeout_seconds),
                    retries=False,
                    redirect=False,
                    preload_content=False,
                )
        except HTTPError as cause:
            raise self._failed(cause, request) from cause
        if response.status < 200:
            # What follows is no HTTP, and nobody's answer.
            response.close()
            raise unreadable(
                f"{self.address} answers {response.status}, as if the protocol were to change, which was not asked for."
            )
        chunks = self._chunks(response, request)
        if 300 <= response.status < 400:
            chunks.close()
            response.close()
            location = response.headers.get("location")
            where = f" to {location[:_MAX_LOCATION]}" if location else ""
            raise PredictionError(
                "REDIRECTED",
                f"{self.address} redirects{where}. Requests are not sent on: give the address that answers.",
                status=response.status,
            )
        if response.status >= 400:
            raise container_error(
                ErrorAnswer(
                    status=response.status,
                    body=beginning(chunks, _MAX_ERROR_BYTES)[0],
                    sender=self.address,
                    fallback_code=f"HTTP_{response.status}",
                    retry_after_seconds=retry_after(response.headers.get("retry-after")),
                )
            )
        return Incoming(
            status=response.status,
            content_type=response.headers.get("content-type", ""),
            custom_attributes=response.headers.get(HEADER, ""),
            chunks=chunks if stream else iter([self._whole(chunks, request)]),
        )

    def _whole(self, chunks: Generator[bytes, None, None], request: Request) -> bytes:
        try:
            data, is_cut = beginning(chunks, request.max_answer_bytes)
        except MemoryError as cause:
            raise out_of_memory(f"the answer of {self.address}") from cause
        if is_cut:
            raise answer_too_large(self.address, request.max_answer_bytes)
        return data

    def _chunks(
        self, response: urllib3.BaseHTTPResponse, request: Request
    ) -> Generator[bytes, None, None]:
        """The body as it arrives, decompressed; the connection goes back to the pool at its end, and is closed before it."""
        ended = False
        try:
            encoding = response.headers.get("content-encoding", "")
            yield from decoded(_received(response), encoding, self.address)
            ended = True
        except ReadTimeoutError as cause:
            raise timed_out(self.address, request.timeout_seconds) from cause
        except HTTPError as cause:
            raise answer_cut(self.address) from cause
        finally:
            if ended:
                response.release_conn()
            else:
                response.close()

    def _failed(self, cause: HTTPError, request: Request) -> PredictionError:
        at = self.address
        if isinstance(cause, NameResolutionError):
            return PredictionError(
                "HOST_NOT_FOUND", f"the host of {at} is not known. Check its name and the network."
            )
        if isinstance(cause, NewConnectionError):
            return PredictionError(
                "CONNECTION_REFUSED", f"nothing listens at {at}. Is the runtime started?"
            )
        if isinstance(cause, TimedOut):
            return timed_out(at, request.timeout_seconds)
        if isinstance(cause, ProtocolError):
            return PredictionError(
                "CONNECTION_LOST", f"the connection to {at} ended before an answer came."
            )
        return PredictionError("NETWORK_FAILED", f"the request to {at} failed ({cause}).")


def beginning(chunks: Generator[bytes, None, None], most: int) -> tuple[bytes, bool]:
    """At most that many bytes, and whether there are more. The rest is not read."""
    # Grows as it comes: joined pieces would be held twice.
    held = BytesIO()
    room = most
    for chunk in chunks:
        held.write(chunk[:room])
        if len(chunk) > room:
            chunks.close()
            return held.getvalue(), True
        room -= len(chunk)
    return held.getvalue(), False


def _received(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """As it came: what urllib3 holds while it decompresses differs by its version."""
    while chunk := response.read1(_CHUNK, decode_content=False):
        yield chunk


def _invocations(url: str, target_model: str | None) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PredictionError(
            "BAD_OPTION", f"{url!r} is not an http or https URL. Write it like http://127.0.0.1:8080."
        )
    if parts.path not in ("", "/"):
        return url
    path = f"/models/{quote(target_model, safe='')}/invoke" if target_model else "/invocations"
    return parts._replace(path=path).geturl()
