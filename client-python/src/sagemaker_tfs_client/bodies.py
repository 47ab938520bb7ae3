"""Request bodies with their media types."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import PredictionError


@dataclass(frozen=True)
class Body:
    """A body with its media type, as `predict` sends it."""

    data: bytes
    content_type: str


def tensors_body(tensors: ArrayLike | Mapping[str, ArrayLike]) -> Body:
    """One array for a model's only input as `application/x-npy`; arrays by input name as `application/x-npz`.

    Elements travel in their own dtype, so give arrays of the model's dtypes: a list of Python floats is float64.
    Strings are str or bytes. bfloat16 is the dtype of `ml_dtypes`.

    Raises PredictionError BAD_OPTION naming the array that has no such form.
    """
    if isinstance(tensors, Mapping):
        arrays = {str(name): _sendable(f"tensor {name!r}", value) for name, value in tensors.items()}
        return Body(_npz(arrays), "application/x-npz")
    return Body(_npy(_sendable("the tensor", tensors)), "application/x-npy")


def json_body(value: object) -> Body:
    """Any value as TensorFlow Serving's JSON, for example `{"instances": [...]}` or `{"inputs": {"x": array}}`.

    Beyond `json.dumps`: arrays are nested lists, float32 with its shortest digits; bytes are `{"b64": "..."}`; NaN
    and infinities are bare, as TensorFlow Serving reads them.

    Raises PredictionError BAD_OPTION for what JSON cannot hold.
    """
    try:
        text = json.dumps(value, default=_jsonable, ensure_ascii=False, separators=(",", ":"))
        return Body(text.encode("utf-8"), "application/json")
    except (TypeError, ValueError, RecursionError) as cause:
        raise PredictionError("BAD_OPTION", f"the value has no form in JSON: {cause}.") from cause


def images_body(images: Iterable[bytes]) -> Body:
    """Encoded images (JPEG, PNG, ...), each as it is, as one body: each behind its length, 4 bytes big-endian.

    Raises PredictionError BAD_OPTION for an image of 4 GiB or more.
    """
    parts: list[bytes] = []
    for index, image in enumerate(images):
        if len(image) >= 2**32:
            raise PredictionError("BAD_OPTION", f"image {index} has {len(image)} bytes, beyond 4 GiB.")
        parts += [len(image).to_bytes(4, "big"), image]
    return Body(b"".join(parts), "application/octet-stream")


def _sendable(what: str, value: ArrayLike) -> NDArray[Any]:
    """An array that NumPy writes without pickling."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as cause:
        raise PredictionError("BAD_OPTION", f"{what} is no array: {cause}.") from cause
    if array.dtype.kind in "OT":
        array = _strings(what, array)
    if array.dtype.kind == "V" and array.dtype.names is None and array.dtype.itemsize == 2:
        return array  # ml_dtypes' bfloat16
    if array.dtype.kind not in "biufSU":
        raise PredictionError("BAD_OPTION", f"{what} has dtype {array.dtype}, which no model takes.")
    return array


def _strings(what: str, array: NDArray[Any]) -> NDArray[Any]:
    """Objects as NumPy's fixed-width strings, which lose zeros at the end of a value."""
    values = array.ravel().tolist()
    if not all(isinstance(value, (str, bytes)) for value in values):
        raise PredictionError("BAD_OPTION", f"{what} has elements that are neither text nor bytes.")
    encoded = [value.encode("utf-8") if isinstance(value, str) else value for value in values]
    if any(value.endswith(b"\0") for value in encoded):
        raise PredictionError(
            "BAD_OPTION",
            f"{what} has a value that ends in a zero byte, which npz cannot hold. Send it with json_body.",
        )
    width = max((len(value) for value in encoded), default=1) or 1
    return np.array(encoded, dtype=f"S{width}").reshape(array.shape)


def _npy(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """As `np.savez`, which takes no array named `file`."""
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", _npy(array))
    return file.getvalue()


def _jsonable(value: object) -> object:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"b64": base64.b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, np.generic):
        return _jsonable(np.asarray(value))
    if isinstance(value, np.ndarray):
        return _shortest(value).tolist()
    raise TypeError(f"a {type(value).__name__}")


def _shortest(array: NDArray[Any]) -> NDArray[Any]:
    """Small floats as the float64 whose digits are theirs: 0.1 instead of 0.10000000149011612."""
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        return array.astype("U32").astype(np.float64)
    if array.dtype.kind in "biufSUOT":
        return array
    raise TypeError(f"an array of {array.dtype}")
