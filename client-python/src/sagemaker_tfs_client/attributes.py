"""`X-Amzn-SageMaker-Custom-Attributes`, the one header that SageMaker hands on in both directions.

It is `name=value` with commas between. In values, commas, percent signs and everything but visible ASCII are
percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from .errors import PredictionError

HEADER = "X-Amzn-SageMaker-Custom-Attributes"

#: SageMaker's bound, in characters (InvokeEndpoint, CustomAttributes).
_MAX_LENGTH = 1024
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True)
class Attributes:
    """What a request may ask of the runtime."""

    #: How the container reaches its model server. Default: the container's own setting.
    transport: Literal["grpc", "rest", "in-process"] | None = None
    #: A model of several in one container. Default: the container's default model.
    model_name: str | None = None
    #: Default: the newest.
    model_version: int | str | None = None
    #: A version by its label in the model server's configuration.
    model_label: str | None = None
    #: Default: `predict`.
    method: Literal["predict", "classify", "regress"] | None = None
    #: Default: `serving_default`.
    signature: str | None = None
    #: The outputs to answer, in this order. Default: all.
    outputs: Sequence[str] = ()
    #: Asks for `tfs-timings` in the answer's custom attributes.
    timings: bool = False
    #: The caller's span (https://www.w3.org/TR/trace-context/): SageMaker drops the header of that name.
    traceparent: str | None = None
    #: State of the trace that vendors keep, beside `traceparent`.
    tracestate: str | None = None
    #: Further attributes, for the endpoint's own handler.
    others: Mapping[str, str] = field(default_factory=dict)


def format_attributes(attributes: Attributes) -> str:
    """Writes the header, empty where nothing is asked for.

    Raises PredictionError BAD_OPTION beyond SageMaker's 1024 characters of visible ASCII, and for a `traceparent`
    that is none.
    """
    parent = attributes.traceparent
    if parent is not None and not _TRACEPARENT.fullmatch(parent):
        raise PredictionError(
            "BAD_OPTION",
            f"traceparent is {parent!r}. Write VERSION-TRACE-SPAN-FLAGS in lower hexadecimal digits, as W3C has it.",
        )
    version = attributes.model_version
    pairs = {
        "tfs-transport": attributes.transport,
        "tfs-model-name": attributes.model_name,
        "tfs-model-version": None if version is None else str(version),
        "tfs-model-label": attributes.model_label,
        "tfs-method": attributes.method,
        "tfs-signature": attributes.signature,
        "tfs-outputs": ",".join(map(_encoded_name, attributes.outputs)) or None,
        "tfs-timings": "1" if attributes.timings else None,
        "traceparent": parent,
        "tracestate": attributes.tracestate if parent else None,
        **attributes.others,
    }
    header = ",".join(
        f"{name}={_encoded(value)}" for name, value in pairs.items() if value is not None
    )
    check_attributes(header)
    return header


#: What stands for itself: visible ASCII but the comma and the percent sign.
_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in ",%")


def _encoded_name(name: str) -> str:
    return name.replace("%", "%25").replace(",", "%2C")


def _encoded(value: str) -> str:
    return quote(value, safe=_PLAIN)


def check_attributes(header: str) -> None:
    """Raises PredictionError BAD_OPTION for what SageMaker does not carry."""
    if len(header) > _MAX_LENGTH:
        raise PredictionError(
            "BAD_OPTION",
            f"the custom attributes have {len(header)} characters, but SageMaker carries {_MAX_LENGTH}. "
            "Ask for fewer outputs by name.",
        )
    bad = re.search(r"[^\x20-\x7e]", header)
    if bad:
        raise PredictionError(
            "BAD_OPTION",
            f"the custom attributes hold {bad.group()!r} at character {bad.start()}. "
            "SageMaker carries printable ASCII only.",
        )


def parse_attributes(header: str) -> dict[str, str]:
    """Reads an answer's header: values by name, decoded."""
    parts = (pair.partition("=") for pair in header.split(","))
    return {
        name.strip(): _decoded(value.strip()) for name, _, value in parts if name.strip() != ""
    }


#: The runtime leaves a `%` that stands for itself, so only what it encodes is decoded.
_ENCODED = re.compile(r"(?:%(?:2C|7F|[0189A-F][0-9A-F]))+", re.IGNORECASE)


def _decoded(value: str) -> str:
    def text(run: re.Match[str]) -> str:
        try:
            return unquote_to_bytes(run.group()).decode("utf-8")
        except UnicodeDecodeError:
            return run.group()

    return _ENCODED.sub(text, value)
