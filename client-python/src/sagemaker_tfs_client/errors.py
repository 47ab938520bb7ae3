"""What a caller catches when a prediction did not come."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

#: Codes of the client's own. Where the container answered, `code` is the container's (`BAD_INPUT`,
#: `MODEL_NOT_READY`, ...), else `HTTP_<status>` or SageMaker's name of the error.
CLIENT_ERRORS = {
    "BAD_OPTION": "An option, a body or a target cannot be sent.",
    "TIMEOUT": "No answer came within `timeout_seconds`.",
    "CONNECTION_REFUSED": "Nothing listens at the address.",
    "CONNECTION_LOST": "The connection ended before an answer came.",
    "ANSWER_CUT": "The connection ended within the answer.",
    "ANSWER_TOO_LARGE": "The answer holds more than `max_answer_bytes`, as it came or decompressed, or than this process has memory for.",
    "REDIRECTED": "The address redirects. Requests are not sent on.",
    "HOST_NOT_FOUND": "The host name is unknown.",
    "NETWORK_FAILED": "The network failed.",
    "ENDPOINT_NOT_FOUND": "There is no such endpoint in the region and account.",
    "ACCESS_DENIED": "AWS refuses the caller.",
    "NO_CREDENTIALS": "There are no AWS credentials.",
    "NO_REGION": "There is no AWS region.",
    "MODEL_ERROR": "The container failed without an error of this project's form.",
    "UNREADABLE_ANSWER": "The answer cannot be read in the form that was asked for.",
}

#: Characters of an error in the form of ours; the runtime's are shorter.
_MOST_SHOWN = 10_000

#: Codes as the catalogues have them; another server's may be anything.
_CODE = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)

#: What moves a terminal's cursor, colors it, turns text around or is not seen; messages repeat what servers say. What
#: joins letters and pictures stays.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)

#: Characters of a foreign body, for example a proxy's page, that a message repeats.
_SHOWN = 500

_ADVICE = {
    401: "The address asks for credentials that predict() does not send.",
    403: "The address refuses this caller.",
    404: "Is there a serving runtime at this address, and does it have this model?",
    413: "Send fewer or smaller records in one request.",
    429: "Send fewer requests at a time, or try again later.",
    502: "The proxy before the runtime could not reach it.",
    503: "The model is loading or its server restarts: try again later.",
    504: "The model took too long: send less at a time, or allow it more time.",
}


class PredictionError(Exception):
    """Why there is no prediction, and what to do.

    `code` is one of `CLIENT_ERRORS`, the container's code, or SageMaker's name of the error. `status` is the HTTP
    status of the container, or of SageMaker where the request did not reach one; None without an answer.
    `retry_after_seconds` is how long the server asks to wait; None if it does not say.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        message = _printable(message)
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are rebuilt from their arguments: for process pools the keywords have to come along.
        return _rebuilt, (self.code, self.message, self.status, self.retry_after_seconds)


def _rebuilt(
    code: str, message: str, status: int | None, retry_after_seconds: float | None
) -> PredictionError:
    return PredictionError(code, message, status=status, retry_after_seconds=retry_after_seconds)


@dataclass(frozen=True)
class ErrorAnswer:
    """An error's body, and who answered it."""

    status: int
    body: bytes
    sender: str
    fallback_code: str
    hint: str | None = None
    retry_after_seconds: float | None = None


def container_error(answer: ErrorAnswer) -> PredictionError:
    """The error for `{"error": ..., "code": ...}`, TensorFlow Serving's `{"error": ...}` or any other body."""
    text, code = _error_fields(answer.body)
    shown = text or _shortened(answer.body) or "no explanation"
    advice = None if code else _ADVICE.get(answer.status)
    parts = [f"{answer.sender} answered {answer.status}: {shown}", advice, answer.hint]
    return PredictionError(
        code or answer.fallback_code,
        "\n".join(part for part in parts if part),
        status=answer.status,
        retry_after_seconds=answer.retry_after_seconds,
    )


def _error_fields(body: bytes) -> tuple[str | None, str | None]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(document, dict) or not isinstance(document.get("error"), str):
        return None, None
    code = document.get("code")
    is_code = isinstance(code, str) and _CODE.fullmatch(code)
    return _cut(document["error"], _MOST_SHOWN), code if is_code else None


def _shortened(body: bytes) -> str:
    return _cut(body.decode("utf-8", "replace").strip(), _SHOWN)


def _cut(text: str, most: int) -> str:
    return f"{text[:most]}..." if len(text) > most else text


def _printable(text: str) -> str:
    """Line breaks and tabs stay, others are written as escapes."""
    return _UNPRINTABLE.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    return f"\\u{{{code:x}}}" if code > 0xFFFF else f"\\u{code:04x}"


def retry_after(header: str | None) -> float | None:
    """Seconds that a `Retry-After` header asks for, given as seconds or as a date (RFC 9110, section 10.2.3)."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text)
        return seconds if math.isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def timed_out(address: str, seconds: float) -> PredictionError:
    """The error for no answer in time."""
    return PredictionError(
        "TIMEOUT",
        f"{address} did not answer within {seconds:g} s. Send less in one request, or raise timeout_seconds.",
    )


def answer_cut(address: str) -> PredictionError:
    """The error for an incomplete answer."""
    return PredictionError(
        "ANSWER_CUT",
        f"the connection to {address} ended within the answer. The server's log may say why.",
    )


def answer_too_large(sender: str, max_bytes: int) -> PredictionError:
    """The error for an answer beyond the caller's limit."""
    return PredictionError(
        "ANSWER_TOO_LARGE",
        f"the answer of {sender} holds more than {max_bytes} bytes. "
        "Ask for fewer outputs, raise max_answer_bytes, or read it with predict_stream.",
    )


def out_of_memory(what: str) -> PredictionError:
    """The error for an answer that this process has no memory for."""
    return PredictionError(
        "ANSWER_TOO_LARGE",
        f"{what} does not fit into this process's memory. Ask for fewer outputs, or read it with predict_stream.",
    )


def unreadable(message: str) -> PredictionError:
    """The error for an answer that does not hold what was asked of it."""
    return PredictionError("UNREADABLE_ANSWER", message)
