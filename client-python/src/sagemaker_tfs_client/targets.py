"""Where a request goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Url:
    """A runtime at an address such as `http://127.0.0.1:8080`; a path, if there is one, is taken as it is."""

    url: str


@dataclass(frozen=True)
class Endpoint:
    """A SageMaker endpoint."""

    name: str
    #: Default: that of the AWS configuration.
    region: str | None = None
    #: A boto3 client of `sagemaker-runtime`. Default: one that leaves repetitions to `predict`. A client with more than
    #: one attempt repeats by itself instead, and its own time limits hold.
    client: Any = None


Target = Url | Endpoint


@dataclass(frozen=True)
class Request:
    """A request as transports send it."""

    body: bytes
    content_type: str
    accept: str | None
    custom_attributes: str
    target_model: str | None
    target_variant: str | None
    inference_component: str | None
    timeout_seconds: float
    #: Of an answer that is held; streams are not.
    max_answer_bytes: int


@dataclass(frozen=True)
class Incoming:
    """A successful answer. `chunks` is read once."""

    status: int
    content_type: str
    custom_attributes: str
    chunks: Iterator[bytes]


class Transport(Protocol):
    """A way to a target."""

    #: For messages: the address or the endpoint.
    address: str
    #: True where repetitions are the transport's own matter.
    retries_itself: bool

    def send(self, request: Request, stream: bool) -> Incoming:
        """Returns a successful answer; raises PredictionError."""
