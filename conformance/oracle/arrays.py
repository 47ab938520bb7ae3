"""Arrays, archives of them, TensorProtos, records, conversions, digits."""

import io
import pathlib

import ml_dtypes
import numpy as np
import tensorflow as tf
from common import FULL, OUT, b64, rng

NUMBERS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
SHAPES = [(), (0,), (1,), (7,), (2, 3), (3, 0, 2), (4, 1, 5), (2, 3, 4, 5)]


def array(dtype, shape):
    raw = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8)
    if dtype == "bool":
        return (raw[..., 0] & 1).astype(bool)
    return np.ascontiguousarray(raw).view(dtype)[..., 0]


def arrays():
    for _ in range(20 if FULL else 3):
        for dtype in NUMBERS:
            for shape in SHAPES:
                values = array(dtype, shape)
                for order in "CF":
                    for endian in "<>":
                        given = np.asarray(values, order=order)
                        if endian == ">" and given.dtype.itemsize > 1:
                            given = given.astype(given.dtype.newbyteorder(">"), order=order)
                        npy, plain = io.BytesIO(), io.BytesIO()
                        np.save(npy, given)
                        np.save(plain, np.ascontiguousarray(values).reshape(shape))
                        yield {"dtype": dtype, "shape": shape, "npy": b64(npy.getvalue()), "plain": b64(plain.getvalue()), "bytes": b64(np.ascontiguousarray(values))}


def protos():
    dtypes = [*NUMBERS, "bfloat16"]
    for _ in range(10 if FULL else 2):
        for dtype in dtypes:
            for shape in SHAPES:
                kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
                values = array("uint16", shape).view(kind) if dtype == "bfloat16" else array(dtype, shape)
                proto = tf.make_tensor_proto(values)
                # As TensorFlow reads it: in a list of values, Python's floats have made signaling NaNs quiet.
                yield {"dtype": dtype, "shape": shape, "bytes": b64(tf.make_ndarray(proto)), "proto": b64(proto.SerializeToString())}
                if values.size and dtype != "bfloat16" and not (np.issubdtype(values.dtype, np.floating) and np.isnan(values.astype("float64")).any()):
                    listed = tf.compat.v1.make_tensor_proto(values.reshape(-1).tolist(), dtype=dtype, shape=shape)
                    yield {"dtype": dtype, "shape": shape, "bytes": b64(tf.make_ndarray(listed)), "proto": b64(listed.SerializeToString())}


def records():
    for index in range(200 if FULL else 30):
        records = [rng.bytes(int(size)) for size in rng.integers(0, 300, 1 + index % 6)]
        path = str(OUT / "records.tmp")
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        yield {"file": b64(pathlib.Path(path).read_bytes()), "records": [b64(record) for record in records]}


def casts():
    for start, targets in (("float64", ("float32", "float16")), ("float32", ("float16",)), ("int64", ("float32",))):
        for _ in range(40 if FULL else 5):
            raw = array(start, (1000,))
            values = raw >> rng.integers(11, 60, 1000) if start == "int64" else raw
            for target in targets:
                with np.errstate(over="ignore", invalid="ignore"):
                    yield {"from": start, "to": target, "given": b64(values), "bytes": b64(values.astype(target))}


def digits():
    for dtype in ("float32", "float64"):
        for _ in range(1250 if FULL else 25):
            values = array(dtype, (2000,))
            values = values[np.isfinite(values)]
            yield {"dtype": dtype, "bytes": b64(values), "texts": [str(value) for value in values]}
