"""Protobuf RecordIO as SageMaker's Python SDK writes and reads it."""

import importlib.util
import io
import json
import pathlib
import sys
import types

import numpy as np
import scipy.sparse
from common import FULL, OUT, b64, rng, tensor, write


def package(name, folder):
    """A package without what its __init__ imports, which takes a dozen libraries."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


folder = pathlib.Path(importlib.util.find_spec("sagemaker").origin).parent
package("sagemaker", folder)
package("sagemaker.amazon", folder / "amazon")
sys.modules["sagemaker.utils"] = types.SimpleNamespace(DeferredError=None)

from sagemaker import serializer_utils as sdk
from sagemaker.amazon.record_pb2 import Record

# As the SDK names them; it has int64 for int32.
KINDS = {"float32": "float32", "float64": "float64", "int32": "int64"}


def numbers(dtype, shape):
    if dtype == "int32":
        return rng.integers(-(2**31), 2**31, shape).astype(KINDS[dtype])
    raw = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8).view(dtype)[..., 0]
    return np.where(np.isnan(raw), 1, raw).astype(dtype)


def labels_of(count, labeled):
    kind = labeled % 4
    return None if kind == 3 else numbers(list(KINDS)[kind], (count,))


def expected(features, label=None):
    given = {"features": {name: tensor(value) for name, value in features.items()}}
    return given | {"label": {name: tensor(value) for name, value in (label or {}).items()}}


def as_record(dtype, rows, labels):
    """What the SDK's writers put into each record: int64 is int32 there."""
    for index, row in enumerate(rows):
        label = None if labels is None else labels[index : index + 1]
        of = {} if label is None else {"values": label.astype("int32") if label.dtype == "int64" else label}
        yield expected({"values": row.astype(dtype)}, of)


def dense(dtype, index):
    rows = numbers(dtype, (1 + index % 5, 1 + index % 17))
    labels = labels_of(len(rows), index)
    file = io.BytesIO()
    sdk.write_numpy_to_dense_tensor(file, rows, labels)
    return {"file": b64(file.getvalue()), "records": list(as_record(dtype, rows, labels))}


def sparse(dtype, index):
    rows = numbers(dtype, (1 + index % 5, 1 + index % 37))
    rows[rng.random(rows.shape) < 0.8] = 0
    rows[0] = 0
    labels = labels_of(len(rows), index)
    file = io.BytesIO()
    sdk.write_spmatrix_to_sparse_tensor(file, scipy.sparse.csr_matrix(rows), labels)
    # A sparse matrix has no negative zeros.
    return {"file": b64(file.getvalue()), "records": list(as_record(dtype, rows + 0, labels))}


def several():
    """Records of the published schema with several features: matrices, sparse matrices, bytes, empty ones."""
    record, features = Record(uid="u", metadata="{}", configuration="{}"), {}
    for at in range(int(rng.integers(0, 5))):
        name = f"feature {at} \u00e9"
        kind = ["float32", "float64", "int32", "bytes"][int(rng.integers(0, 4))]
        value = record.features[name]
        if kind == "bytes":
            features[name] = np.array([rng.bytes(int(size)) for size in rng.integers(0, 9, int(rng.integers(1, 4)))], dtype=object)
            value.bytes.value.extend(features[name])
            value.bytes.content_type = "image/jpeg"
            continue
        shape = tuple(int(size) for size in rng.integers(0, 4, int(rng.integers(1, 4))))
        array = numbers(kind, shape).astype(kind)
        proto = getattr(value, f"{kind}_tensor")
        proto.shape.extend(shape)
        flat = array.reshape(-1)
        if rng.random() < 0.5:
            keys = np.flatnonzero(rng.random(flat.size) < 0.3)
            proto.keys.extend(keys)
            proto.values.extend(flat[keys])
            array = np.zeros_like(flat)
            array[keys] = flat[keys]
            array = array.reshape(shape)
        else:
            proto.values.extend(flat)
        features[name] = array
    file = io.BytesIO()
    sdk._write_recordio(file, record.SerializeToString())
    return {"file": b64(file.getvalue()), "records": [expected(features)]}


def sagemaker_records():
    for index in range(400 if FULL else 40):
        for dtype in KINDS:
            yield dense(dtype, index)
            yield sparse(dtype, index)
        yield several()


def read(value):
    kind = value.WhichOneof("value")
    proto = getattr(value, kind)
    if kind == "bytes":
        return tensor(np.array(list(proto.value), dtype=object))
    return tensor(np.array(proto.values, kind.removesuffix("_tensor")).reshape(list(proto.shape)))


def sagemaker_records_written():
    """What the SDK reads in the files that this project wrote."""
    for line in (OUT / "sagemaker_records_ours.jsonl").read_text().splitlines():
        case = json.loads(line)
        records = sdk.read_records(io.BytesIO(bytes.fromhex(case["file"])))
        read_records = [{name: read(value) for name, value in record.features.items()} for record in records]
        yield case | {"read": read_records}


if __name__ == "__main__":
    write("sagemaker_records_written", sagemaker_records_written())
