"""A successful answer, read when asked."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import PredictionError, out_of_memory, unreadable

Tensors = dict[str, NDArray[Any]]

#: 1 GiB.
MAX_ANSWER_BYTES = 1024**3

#: The name of an only output that neither the answer nor the request names.
_UNNAMED = "output"

@dataclass(frozen=True)
class Answer:
    """What came back."""

    #: HTTP status, 200 as a rule.
    status: int
    #: Media type as sent, parameters included.
    content_type: str
    #: What the container says besides the body: `tfs-model-version`, `tfs-fingerprint`, ...
    custom_attributes: Mapping[str, str]
    #: The body as it came.
    data: bytes
    #: The outputs that the request asked for by name.
    outputs: Sequence[str] = field(default=(), repr=False)
    #: Bytes that the arrays of an npz may hold.
    max_bytes: int = field(default=MAX_ANSWER_BYTES, repr=False)

    def tensors(self, dtypes: Mapping[str, DTypeLike] | None = None) -> Tensors:
        """The outputs by name, from npy, npz, or JSON in row or columnar form.

        Where the answer does not name its only output, the name is the one asked for, else `output`. JSON does not
        tell dtypes: without `dtypes` whole numbers without a decimal point are int64, other numbers float64, which
        loses nothing; strings are an array of objects, str, or bytes where they were sent as `{"b64": ...}`.
        bfloat16 is widened to float32.

        Raises PredictionError UNREADABLE_ANSWER, or ANSWER_TOO_LARGE.
        """
        kind = self.content_type.split(";", 1)[0].strip().lower()
        reader = _READERS.get(kind)
        if reader is None:
            raise unreadable(
                f"an answer of type {self.content_type!r} holds no tensors that can be read. "
                f"Ask with accept for one of {', '.join(_READERS)}."
            )
        try:
            tensors = reader(self, dtypes or {})
            return {
                name: array.astype(dtypes[name]) if dtypes and name in dtypes else array
                for name, array in tensors.items()
            }
        except PredictionError:
            raise
        except MemoryError as cause:
            raise out_of_memory("what the answer holds") from cause
        # NumPy, zipfile and its codecs document none of what they raise for bytes that are not theirs.
        except Exception as cause:
            raise unreadable(f"the answer is not readable as {kind}: {cause}.") from cause

    def json(self) -> Any:
        """The body as JSON; bare NaN and Infinity are numbers. Raises PredictionError UNREADABLE_ANSWER."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as cause:
            raise unreadable(f"the answer is not readable as JSON: {cause}.") from cause
        except MemoryError as cause:
            raise out_of_memory("what the answer holds") from cause

    def text(self) -> str:
        """The body as text, read as UTF-8."""
        return self.data.decode("utf-8", "replace")


class StreamedAnswer:
    """An answer whose body is still coming.

    Iterate it once, for its chunks as they arrive: PredictionError ANSWER_CUT is raised where a part is missing. Used
    with `with`, it ends the request where the loop is left early.
    """

    def __init__(
        self,
        status: int,
        content_type: str,
        custom_attributes: Mapping[str, str],
        chunks: Iterator[bytes],
    ) -> None:
        self.status = status
        self.content_type = content_type
        self.custom_attributes = custom_attributes
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def close(self) -> None:
        """Ends the request."""
        close = getattr(self._chunks, "close", None)
        if close:
            close()

    def __enter__(self) -> StreamedAnswer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _only_name(outputs: Sequence[str]) -> str:
    return outputs[0] if len(outputs) == 1 else _UNNAMED


def _load(data: bytes) -> NDArray[Any]:
    try:
        # np.load takes an archive as well, and leaves it unread.
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except MemoryError as cause:
        # As a rule a shape that is larger than what follows it.
        raise ValueError("its shape is beyond this process's memory") from cause
    if array.size > 0 and array.dtype.itemsize == 0:
        # So many that another dtype takes any memory.
        raise ValueError(f"it has {array.size} elements of no bytes")
    return _widened(array) if array.dtype == np.dtype("V2") else array


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    """bfloat16, the upper half of a float32, for which NumPy has no dtype."""
    upper = array.view(np.uint16).astype(np.uint32)
    return (upper << 16).view(np.float32)


def _npy(answer: Answer, _: Mapping[str, DTypeLike]) -> Tensors:
    whole = _load(answer.data)
    told = answer.custom_attributes.get("tfs-output-shapes")
    if told is None:
        if len(answer.outputs) > 1:
            raise ValueError(
                "it joins several outputs and does not tell their shapes; accept application/x-npz"
            )
        return {_only_name(answer.outputs): whole}
    shapes = [_named_shape(part) for part in told.split(";")]
    _require_distinct([name for name, _ in shapes])
    if len(shapes) == 1:
        return {shapes[0][0]: whole.reshape(shapes[0][1])}
    flat = whole.reshape(-1)
    sizes = [int(np.prod(shape, dtype=np.int64)) for _, shape in shapes]
    if sum(sizes) != flat.size:
        raise ValueError(f"it has {flat.size} elements, tfs-output-shapes tells of {sum(sizes)}")
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes, parts)}


def _named_shape(part: str) -> tuple[str, tuple[int, ...]]:
    """`boxes:1x100x4`; a scalar has no sizes."""
    match = re.fullmatch(r"([^:]*):((?:\d+(?:x\d+)*)?)", part)
    if not match:
        raise ValueError(f"the custom attribute tfs-output-shapes has {part!r}")
    sizes = match[2].split("x") if match[2] else []
    return unquote(match[1]), tuple(int(size) for size in sizes)


def _require_distinct(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"it has more than one output {name!r}")
        seen.add(name)


def _npz(answer: Answer, _: Mapping[str, DTypeLike]) -> Tensors:
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        held = sum(entry.file_size for entry in archive.infolist())
        if held > answer.max_bytes:
            raise PredictionError(
                "ANSWER_TOO_LARGE",
                f"the arrays of the npz hold {held} bytes, and may hold {answer.max_bytes}. "
                "Ask for fewer outputs, or raise max_answer_bytes.",
            )
        names = archive.namelist()
        _require_distinct([name.removesuffix(".npy") for name in names])
        return {name.removesuffix(".npy"): _load(archive.read(name)) for name in names}


def _json(answer: Answer, dtypes: Mapping[str, DTypeLike]) -> Tensors:
    """Several documents, as batch transform joins them, are one batch."""
    columns = [_columns(document, answer.outputs) for document in _documents(answer.text())]
    if not columns:
        raise ValueError("it is empty")
    tensors: Tensors = {}
    for name in columns[0]:
        parts = [_array(column[name], name, dtypes) for column in columns]
        tensors[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return tensors


def _documents(text: str) -> list[Any]:
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return found
        document, at = decoder.raw_decode(text, at)
        found.append(document)


def _columns(document: Any, outputs: Sequence[str]) -> dict[str, Any]:
    if isinstance(document, dict):
        rows = document.get("predictions")
        if isinstance(rows, list):
            if not rows or not _is_named(rows[0]):
                return {_only_name(outputs): rows}
            return {name: [row[name] for row in rows] for name in rows[0]}
        if "outputs" in document:
            named = document["outputs"]
            return named if _is_named(named) else {_only_name(outputs): named}
    raise ValueError(
        'it has neither "predictions" nor "outputs", as a handler may answer; read it with json()'
    )


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and not _is_base64(value)


def _is_base64(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["b64"] and isinstance(value["b64"], str)


def _array(value: Any, name: str, dtypes: Mapping[str, DTypeLike]) -> NDArray[Any]:
    shape = _shape_of(value)
    elements: list[Any] = []
    _flatten(value, shape, name, elements)
    if name in dtypes and not any(isinstance(element, (str, bytes)) for element in elements):
        return np.array(elements, dtype=dtypes[name]).reshape(shape)
    return np.array(elements, dtype=_dtype_of(elements, name)).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...]:
    sizes: list[int] = []
    while isinstance(value, list):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(sizes)


def _flatten(value: Any, shape: tuple[int, ...], place: str, into: list[Any]) -> None:
    """Appends the elements; lists that are longer or deeper than their neighbors are an error."""
    if not shape:
        into.append(_element(value, place))
        return
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ValueError(f"{place} is not a list of {shape[0]}, as those before it")
    if len(shape) == 1 and all(type(element) in (int, float, bool, str) for element in value):
        into.extend(value)
        return
    for index, element in enumerate(value):
        _flatten(element, shape[1:], f"{place}[{index}]", into)


def _element(value: Any, place: str) -> Any:
    if isinstance(value, (int, float, str)):
        return value
    if _is_base64(value):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except binascii.Error as cause:
            raise ValueError(f"{place} is no base64: {cause}") from cause
    raise ValueError(f"{place} is no number, text or base64")


def _dtype_of(elements: list[Any], name: str) -> DTypeLike:
    kinds = {type(element) for element in elements}
    if kinds and kinds <= {str, bytes}:
        return object
    if kinds == {bool}:
        return np.bool_
    if not kinds <= {int, float}:
        raise ValueError(f"{name} mixes {', '.join(sorted(kind.__name__ for kind in kinds))}")
    if kinds == {int}:
        return np.int64 if max(elements) < 2**63 else np.uint64
    return np.float64


_READERS = {
    "application/x-npy": _npy,
    "application/x-npz": _npz,
    "application/json": _json,
    "application/jsonlines": _json,
    "application/jsons": _json,
}
