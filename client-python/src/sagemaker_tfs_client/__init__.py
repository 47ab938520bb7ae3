"""Calls models that a serving runtime or a SageMaker endpoint of sagemaker-tfs serves."""

from .answer import Answer, StreamedAnswer
from .attributes import Attributes, format_attributes, parse_attributes
from .bodies import Body, images_body, json_body, tensors_body
from .errors import PredictionError
from .predict import predict, predict_stream
from .queue import AsyncPrediction, predict_async, wait_for
from .targets import Endpoint, Target, Url

__all__ = [
    "Answer",
    "AsyncPrediction",
    "Attributes",
    "Body",
    "Endpoint",
    "PredictionError",
    "StreamedAnswer",
    "Target",
    "Url",
    "format_attributes",
    "images_body",
    "json_body",
    "parse_attributes",
    "predict",
    "predict_async",
    "predict_stream",
    "tensors_body",
    "wait_for",
]
