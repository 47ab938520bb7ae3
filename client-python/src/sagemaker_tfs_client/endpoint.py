"""A SageMaker endpoint, by boto3."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    EventStreamError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from urllib3.exceptions import HTTPError

from .errors import (
    ErrorAnswer,
    PredictionError,
    answer_cut,
    answer_too_large,
    container_error,
    out_of_memory,
    retry_after,
    timed_out,
)
from .targets import Endpoint, Incoming, Request

_CHUNK = 64 * 1024
_CONNECTIONS = 32
_lock = threading.Lock()
#: Clients keep connections open and are safe to share, so there is one for each region and time limit.
_clients: dict[tuple[str | None, float], Any] = {}


class EndpointTransport:
    """InvokeEndpoint, or InvokeEndpointWithResponseStream."""

    def __init__(self, target: Endpoint, timeout_seconds: float) -> None:
        self.address = f"endpoint {target.name}"
        self._name = target.name
        self._client = runtime_client(target, timeout_seconds)
        self.retries_itself = repeats_itself(self._client)

    def send(self, request: Request, stream: bool) -> Incoming:
        given = {
            "EndpointName": self._name,
            "Body": request.body,
            "ContentType": request.content_type,
            "Accept": request.accept,
            "CustomAttributes": request.custom_attributes or None,
            "TargetModel": request.target_model,
            "TargetVariant": request.target_variant,
            "InferenceComponentName": request.inference_component,
        }
        call = (
            self._client.invoke_endpoint_with_response_stream
            if stream
            else self._client.invoke_endpoint
        )
        try:
            answer = call(**{name: value for name, value in given.items() if value is not None})
        except (BotoCoreError, ClientError) as cause:
            raise service_error(cause, self._name, request.timeout_seconds) from cause
        body = answer["Body"]
        chunks = self._events(body) if stream else iter([self._read(body, request.max_answer_bytes)])
        return Incoming(
            status=answer["ResponseMetadata"]["HTTPStatusCode"],
            content_type=answer.get("ContentType", ""),
            custom_attributes=answer.get("CustomAttributes", ""),
            chunks=chunks,
        )

    def _read(self, body: Any, max_bytes: int) -> bytes:
        # Grows as it comes: joined pieces would be held twice.
        held = BytesIO()
        room = max_bytes
        try:
            for chunk in body.iter_chunks(_CHUNK):
                room -= len(chunk)
                if room < 0:
                    body.close()
                    raise answer_too_large(self.address, max_bytes)
                held.write(chunk)
            return held.getvalue()
        except (BotoCoreError, HTTPError) as cause:
            raise answer_cut(self.address) from cause
        except MemoryError as cause:
            body.close()
            raise out_of_memory(f"the answer of {self.address}") from cause

    def _events(self, events: Any) -> Iterator[bytes]:
        """Raises PredictionError for the errors that SageMaker sends within the stream."""
        try:
            for event in events:
                part = event.get("PayloadPart")
                if part and part.get("Bytes"):
                    yield part["Bytes"]
        except (EventStreamError, ResponseStreamingError, BotoCoreError, HTTPError) as cause:
            raise answer_cut(self.address) from cause
        finally:
            events.close()


def runtime_client(target: Endpoint, timeout_seconds: float) -> Any:
    """The target's client, or the one of its region, which leaves repetitions to its caller."""
    if target.client is not None:
        return target.client
    key = (target.region, timeout_seconds)
    with _lock:
        if key not in _clients:
            config = Config(
                retries={"total_max_attempts": 1},
                read_timeout=timeout_seconds,
                max_pool_connections=_CONNECTIONS,
            )
            try:
                # boto3's default session is not safe to use from several threads, a session of our own is.
                session = boto3.session.Session()
                _clients[key] = session.client(
                    "sagemaker-runtime", region_name=target.region, config=config
                )
            except BotoCoreError as cause:
                raise service_error(cause, target.name, timeout_seconds) from cause
        return _clients[key]


def repeats_itself(client: Any) -> bool:
    """Whether a boto3 client makes a failed call again."""
    retries = getattr(client.meta.config, "retries", None) or {}
    most = retries.get("total_max_attempts")
    if most is None and "max_attempts" in retries:
        most = retries["max_attempts"] + 1
    return most is None or int(most) > 1


def service_error(
    cause: BotoCoreError | ClientError, endpoint: str, timeout_seconds: float
) -> PredictionError:
    """The error for what boto3 raised; `ModelError` becomes what the container said."""
    if isinstance(cause, ClientError):
        return _answered(cause.response, endpoint)
    at = f"endpoint {endpoint}"
    if isinstance(cause, (NoCredentialsError, PartialCredentialsError)):
        return PredictionError(
            "NO_CREDENTIALS", f"no AWS credentials to call {at}: {cause} Set AWS_PROFILE, or give a client."
        )
    if isinstance(cause, NoRegionError):
        return PredictionError("NO_REGION", f"no AWS region for {at}. Give a region, or set AWS_REGION.")
    if isinstance(cause, ParamValidationError):
        return PredictionError("BAD_OPTION", f"{at} cannot be sent this: {cause}")
    if isinstance(cause, (ReadTimeoutError, ConnectTimeoutError)):
        return timed_out(at, timeout_seconds)
    if isinstance(cause, ConnectionClosedError):
        return PredictionError("CONNECTION_LOST", f"the connection to {at} ended before an answer came.")
    if isinstance(cause, EndpointConnectionError):
        return PredictionError("CONNECTION_REFUSED", f"SageMaker cannot be reached for {at}: {cause}")
    return PredictionError("NETWORK_FAILED", f"the request to {at} failed ({cause}).")


def _answered(response: Mapping[str, Any], endpoint: str) -> PredictionError:
    """SageMaker's error: its name, its status, and for ModelError the container's own words."""
    error = response.get("Error", {})
    name, message = str(error.get("Code", "")), str(error.get("Message", ""))
    meta = response.get("ResponseMetadata", {})
    status = meta.get("HTTPStatusCode")
    at = f"endpoint {endpoint}"
    if name == "ModelError":
        log = response.get("LogStreamArn")
        return container_error(
            ErrorAnswer(
                status=int(response.get("OriginalStatusCode", 500)),
                body=str(response.get("OriginalMessage", "")).encode("utf-8"),
                sender=f"the container of {at}",
                fallback_code="MODEL_ERROR",
                hint=f"Its log: {log}" if log else None,
            )
        )
    if re.search(r"Endpoint .* not found", message, re.IGNORECASE):
        text = f"there is no {at}: {message} Check the name, the region and the account."
        return PredictionError("ENDPOINT_NOT_FOUND", text, status=status)
    if re.search(r"AccessDenied|UnrecognizedClient|ExpiredToken|InvalidSignature", name):
        advice = "The caller needs sagemaker:InvokeEndpoint on this endpoint and credentials that are valid."
        return PredictionError("ACCESS_DENIED", f"{at} refuses: {message} {advice}", status=status)
    return PredictionError(
        name or f"HTTP_{status}",
        f"{at}: {message or 'no explanation'}",
        status=status,
        retry_after_seconds=retry_after(meta.get("HTTPHeaders", {}).get("retry-after")),
    )
