"""`predict`: one request to a runtime or an endpoint, and its answer."""

from __future__ import annotations

from .answer import MAX_ANSWER_BYTES, Answer, StreamedAnswer
from .attributes import Attributes, check_attributes, format_attributes, parse_attributes
from .bodies import Body
from .endpoint import EndpointTransport
from .errors import PredictionError
from .retry import RETRIES, with_retries
from .targets import Endpoint, Incoming, Request, Target, Transport, Url
from .trace import with_current_trace
from .url import UrlTransport

#: SageMaker allows 60 seconds for real-time answers.
TIMEOUT_SECONDS = 70.0


def predict(
    target: Target,
    body: Body | bytes | str,
    *,
    content_type: str | None = None,
    accept: str | None = None,
    custom_attributes: Attributes | str | None = None,
    target_model: str | None = None,
    target_variant: str | None = None,
    inference_component: str | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    idempotent: bool = True,
    max_answer_bytes: int = MAX_ANSWER_BYTES,
) -> Answer:
    """Sends one request and reads the answer.

    `body` is from `tensors_body`, `json_body` or `images_body`, or bytes or text of `content_type`. `accept` is the
    media type of the answer, for example `application/x-npz`; the default is the server's choice, usually JSON.
    `target_model` names a model of a multi-model endpoint; `target_variant` and `inference_component` are for endpoints
    only. Each try may take `timeout_seconds`. `retries` is how often a request is sent again where that is safe; with
    `idempotent=False` only what was surely not begun is. The answer may hold `max_answer_bytes`, decompressed, and so may the
    arrays of its npz; `predict_stream` holds nothing, and has no limit. Within a span of OpenTelemetry the request carries its
    `traceparent`.

    Raises PredictionError, with the container's own code and message where it answered with an error.
    """
    request = _request(
        body, content_type, accept, custom_attributes,
        target_model, target_variant, inference_component, timeout_seconds, max_answer_bytes,
    )  # fmt: skip
    incoming = _call(target, request, retries, idempotent, stream=False)
    asked = custom_attributes.outputs if isinstance(custom_attributes, Attributes) else ()
    return Answer(
        status=incoming.status,
        content_type=incoming.content_type,
        custom_attributes=parse_attributes(incoming.custom_attributes),
        data=b"".join(incoming.chunks),
        outputs=tuple(asked),
        max_bytes=max_answer_bytes,
    )


def predict_stream(
    target: Target,
    body: Body | bytes | str,
    *,
    content_type: str | None = None,
    accept: str | None = None,
    custom_attributes: Attributes | str | None = None,
    target_model: str | None = None,
    target_variant: str | None = None,
    inference_component: str | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    idempotent: bool = True,
) -> StreamedAnswer:
    """As `predict`, with the answer's body in chunks as they arrive. At a URL `timeout_seconds` counts until its end.

    An endpoint is called by InvokeEndpointWithResponseStream, which has no `target_model`.
    """
    if target_model is not None and isinstance(target, Endpoint):
        raise PredictionError(
            "BAD_OPTION", "SageMaker streams no answers of multi-model endpoints. Use predict."
        )
    request = _request(
        body, content_type, accept, custom_attributes,
        target_model, target_variant, inference_component, timeout_seconds,
    )  # fmt: skip
    incoming = _call(target, request, retries, idempotent, stream=True)
    attributes = parse_attributes(incoming.custom_attributes)
    return StreamedAnswer(incoming.status, incoming.content_type, attributes, incoming.chunks)


def _request(
    body: Body | bytes | str,
    content_type: str | None,
    accept: str | None,
    custom_attributes: Attributes | str | None,
    target_model: str | None,
    target_variant: str | None,
    inference_component: str | None,
    timeout_seconds: float,
    max_answer_bytes: int = MAX_ANSWER_BYTES,
) -> Request:
    if max_answer_bytes < 1:
        raise PredictionError(
            "BAD_OPTION", f"max_answer_bytes is {max_answer_bytes}. Pass 1 or more."
        )
    data, own_type = body_of(body)
    return Request(
        body=data,
        content_type=content_type or own_type,
        accept=accept,
        custom_attributes=header_of(custom_attributes),
        target_model=target_model,
        target_variant=target_variant,
        inference_component=inference_component,
        timeout_seconds=timeout_seconds,
        max_answer_bytes=max_answer_bytes,
    )


def body_of(body: Body | bytes | str) -> tuple[bytes, str]:
    """The bytes and their media type: JSON for text, octet-stream for bytes."""
    if isinstance(body, Body):
        return body.data, body.content_type
    if isinstance(body, str):
        return body.encode("utf-8"), "application/json"
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), "application/octet-stream"
    raise PredictionError(
        "BAD_OPTION",
        f"the body is of type {type(body).__name__}. Make one with json_body or tensors_body, or give bytes or text.",
    )


def header_of(attributes: Attributes | str | None) -> str:
    """The header of custom attributes; text is sent as it is."""
    if isinstance(attributes, str):
        check_attributes(attributes)
        return attributes
    return format_attributes(with_current_trace(attributes or Attributes()))


def _call(
    target: Target, request: Request, retries: int, idempotent: bool, stream: bool
) -> Incoming:
    transport = _transport(target, request)
    times = 0 if transport.retries_itself else retries
    return with_retries(lambda: transport.send(request, stream), times, idempotent)


def _transport(target: Target, request: Request) -> Transport:
    if isinstance(target, Url):
        return UrlTransport(target, request.target_model)
    if isinstance(target, Endpoint):
        return EndpointTransport(target, request.timeout_seconds)
    raise wrong_target(target)


def wrong_target(target: object) -> PredictionError:
    """What types alone would refuse, such as an address that is mere text."""
    return PredictionError(
        "BAD_OPTION", f"the target is {target!r}. Give Url(ADDRESS) or Endpoint(NAME)."
    )
