"""When a request is sent again, and after how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from .errors import PredictionError

T = TypeVar("T")

RETRIES = 2
#: Seconds before the first repetition, once to twice that; doubled for each further one.
_FIRST_WAIT = 0.2
_LONGEST_WAIT = 5.0
#: A server that asks for a longer wait gets the caller's decision instead.
_LONGEST_RETRY_AFTER = 30.0

_NOT_BEGUN = {"CONNECTION_REFUSED", "MODEL_NOT_READY", "OVERLOADED", "SHUTTING_DOWN"}
_BEGUN_PERHAPS = {"CONNECTION_LOST", "NETWORK_FAILED"}


def with_retries(attempt: Callable[[], T], retries: int, idempotent: bool) -> T:
    """Runs `attempt` until it succeeds, fails in a way that is not safe to repeat, or has no tries left."""
    for tried in range(retries + 1):
        try:
            return attempt()
        except PredictionError as error:
            if tried == retries or not is_safe_to_retry(error, idempotent):
                raise
            backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2**tried * random.uniform(1, 2))
            time.sleep(max(backoff, error.retry_after_seconds or 0.0))
    raise PredictionError("BAD_OPTION", f"retries is {retries}. Give 0 or more.")


def is_safe_to_retry(error: PredictionError, idempotent: bool) -> bool:
    """True for failures after which the same request may be sent again."""
    if (error.retry_after_seconds or 0) > _LONGEST_RETRY_AFTER:
        return False
    if error.code in _NOT_BEGUN or error.status == 429:
        return True
    return idempotent and (error.status == 503 or error.code in _BEGUN_PERHAPS)
