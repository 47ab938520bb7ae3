"""The caller's span, which travels in the custom attributes: SageMaker drops the header `traceparent`."""

from __future__ import annotations

import sys
from dataclasses import replace

from .attributes import Attributes


def with_current_trace(attributes: Attributes) -> Attributes:
    """Adds the current span of OpenTelemetry, if the program uses it and the attributes name no other."""
    if attributes.traceparent is not None or "traceparent" in attributes.others:
        return attributes
    # Only a program that has loaded OpenTelemetry can be within a span of it.
    if "opentelemetry.trace" not in sys.modules:
        return attributes
    import opentelemetry.trace as trace

    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        return attributes
    parent = f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags):02x}"
    return replace(
        attributes, traceparent=parent, tracestate=span.trace_state.to_header() or None
    )
