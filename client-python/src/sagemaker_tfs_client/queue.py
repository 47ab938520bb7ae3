"""Asynchronous inference: the request lies in S3 or is sent along, and the answer will lie in S3."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from .answer import Answer
from .attributes import Attributes
from .bodies import Body
from .endpoint import repeats_itself, runtime_client, service_error
from .errors import ErrorAnswer, PredictionError, container_error, timed_out
from .predict import TIMEOUT_SECONDS, body_of, header_of, wrong_target
from .retry import RETRIES, with_retries
from .targets import Endpoint

#: Bytes that a request may carry itself.
#: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointAsync.html
MAX_INLINE = 128_000

#: Seconds between two looks at S3.
_POLL_SECONDS = 1.0
#: What S3 says of an object that was put without a type.
_UNTYPED = re.compile(r"(binary|application)/octet-stream")


@dataclass(frozen=True)
class AsyncPrediction:
    """A prediction that will be."""

    inference_id: str
    #: S3 address where the answer will lie.
    output_location: str
    #: S3 address where the error will lie, where the endpoint is set up for it.
    failure_location: str | None
    #: Media type that the request asked for.
    accept: str | None = None
    #: The outputs that the request asked for by name.
    outputs: tuple[str, ...] = ()


def predict_async(
    target: Endpoint,
    request: str | Body | bytes,
    *,
    content_type: str | None = None,
    accept: str | None = None,
    custom_attributes: Attributes | str | None = None,
    inference_id: str | None = None,
    invocation_timeout_seconds: int | None = None,
    request_ttl_seconds: int | None = None,
    retries: int = RETRIES,
) -> AsyncPrediction:
    """Queues a prediction at an endpoint with asynchronous inference.

    `request` is where the body lies, `s3://bucket/key`, or the body itself, 128,000 bytes at most. `inference_id` names
    the inference in logs and notifications. The model may take `invocation_timeout_seconds` (15 minutes), the request
    wait `request_ttl_seconds` in the queue (6 hours).

    Raises PredictionError, BAD_OPTION for more bytes.
    """
    if not isinstance(target, Endpoint):
        raise wrong_target(target)
    client = runtime_client(target, TIMEOUT_SECONDS)
    given = {
        "EndpointName": target.name,
        **_place_of(request, content_type, client),
        "Accept": accept,
        "CustomAttributes": header_of(custom_attributes) or None,
        "InferenceId": inference_id,
        "InvocationTimeoutSeconds": invocation_timeout_seconds,
        "RequestTTLSeconds": request_ttl_seconds,
    }
    wanted = {name: value for name, value in given.items() if value is not None}

    def send() -> Any:
        try:
            return client.invoke_endpoint_async(**wanted)
        except (BotoCoreError, ClientError) as cause:
            raise service_error(cause, target.name, TIMEOUT_SECONDS) from cause

    answer = with_retries(send, 0 if repeats_itself(client) else retries, idempotent=True)
    asked = custom_attributes.outputs if isinstance(custom_attributes, Attributes) else ()
    return AsyncPrediction(
        inference_id=answer.get("InferenceId", ""),
        output_location=answer.get("OutputLocation", ""),
        failure_location=answer.get("FailureLocation"),
        accept=accept,
        outputs=tuple(asked),
    )


def wait_for(
    prediction: AsyncPrediction, *, timeout_seconds: float = 900.0, s3_client: Any = None
) -> Answer:
    """Waits until the answer of an asynchronous prediction lies in S3, and reads it.

    The caller needs s3:GetObject on the answers and failures, and s3:ListBucket: without it S3 says "forbidden" of what is
    not there yet. Custom attributes of the answer do not reach S3: ask for npz where there are several outputs.

    Raises PredictionError with the container's words for a prediction that failed, TIMEOUT without an answer in time.
    """
    s3 = s3_client if s3_client is not None else boto3.session.Session().client("s3")
    deadline = time.monotonic() + timeout_seconds
    while True:
        found = _object(s3, prediction.output_location)
        if found:
            data, kind = found
            if _UNTYPED.fullmatch(kind):
                kind = prediction.accept or "application/json"
            return Answer(200, kind, {}, data, prediction.outputs)
        failed = prediction.failure_location and _object(s3, prediction.failure_location)
        if failed:
            raise _failure(failed[0], prediction)
        if time.monotonic() + _POLL_SECONDS > deadline:
            raise timed_out(f"the answer at {prediction.output_location}", timeout_seconds)
        time.sleep(_POLL_SECONDS)


def _place_of(request: str | Body | bytes, content_type: str | None, client: Any) -> dict[str, Any]:
    if isinstance(request, str):
        if not request.startswith("s3://"):
            raise PredictionError(
                "BAD_OPTION", f"{request!r} is no s3:// address. Give one, or the body as bytes."
            )
        return {"InputLocation": request, "ContentType": content_type}
    data, own_type = body_of(request)
    if len(data) > MAX_INLINE:
        raise PredictionError(
            "BAD_OPTION",
            f"the request has {len(data)} bytes, but an asynchronous one carries at most {MAX_INLINE}. "
            "Put it into S3 and give its s3:// address.",
        )
    members = client.meta.service_model.operation_model("InvokeEndpointAsync").input_shape.members
    if "Body" not in members:
        raise PredictionError(
            "BAD_OPTION",
            f"this boto3 ({boto3.__version__}) puts no body into asynchronous requests. "
            "Update it, or put the body into S3.",
        )
    return {"Body": data, "ContentType": content_type or own_type}


def _object(s3: Any, uri: str) -> tuple[bytes, str] | None:
    parts = urlsplit(uri)
    try:
        found = s3.get_object(Bucket=parts.netloc, Key=parts.path.removeprefix("/"))
        return found["Body"].read(), found.get("ContentType", "")
    except ClientError as cause:
        code = str(cause.response.get("Error", {}).get("Code", ""))
        if code == "NoSuchKey":
            return None
        raise PredictionError(code, f"{uri} cannot be read: {cause}") from cause
    except BotoCoreError as cause:
        raise PredictionError("NETWORK_FAILED", f"{uri} cannot be read: {cause}") from cause


def _failure(body: bytes, prediction: AsyncPrediction) -> PredictionError:
    """SageMaker's report of a failure quotes what the container said."""
    text = body.decode("utf-8", "replace")
    status = re.search(r"\((\d{3})\)", text)
    quoted = re.search(r'message "(\{.*\})"', text, re.DOTALL)
    return container_error(
        ErrorAnswer(
            status=int(status[1]) if status else 500,
            body=quoted[1].encode("utf-8") if quoted and _is_json(quoted[1]) else body,
            sender=f"inference {prediction.inference_id}",
            fallback_code="MODEL_ERROR",
        )
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
