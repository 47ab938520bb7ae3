"""What Python TensorFlow, NumPy and Pillow make of generated inputs, as JSON lines: python3 oracle.py OUT (short|full)"""

import base64
import io
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import ml_dtypes
import numpy as np
import PIL
import tensorflow as tf
from PIL import Image

OUT = pathlib.Path(sys.argv[1])
FULL = sys.argv[2] == "full"
rng = np.random.default_rng(20)


def b64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.tobytes()).decode()


def write(section, cases):
    with open(OUT / f"{section}.jsonl", "w") as file:
        for case in cases:
            file.write(json.dumps(case) + "\n")


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
                yield {"dtype": dtype, "shape": shape, "bytes": b64(values), "proto": b64(proto.SerializeToString())}
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


METHODS = [("nearest", False), ("area", False), *((m, a) for m in ("bilinear", "bicubic", "lanczos3") for a in (False, True))]
PILLOW = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS}


def eight_bits(values):
    return np.clip(np.floor(np.asarray(values) + 0.5), 0, 255).astype(np.uint8)


def photo(height, width):
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + c)) * 60 + np.cos(y / (7 - c)) * 60 + 128 for c in range(3)]
    noise = rng.normal(0, 6, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def encoded(pixels):
    gray = Image.fromarray(pixels).convert("L")
    kinds = []

    def saved(name, image, form, exact=True, **options):
        stream = io.BytesIO()
        image.save(stream, form, **options)
        kinds.append((name, stream.getvalue(), exact))

    picture = Image.fromarray(pixels)
    for quality in (30, 75, 95):
        for subsampling in (0, 1, 2):
            for progressive in (False, True):
                saved(f"JPEG q{quality} s{subsampling} {'progressive' if progressive else 'baseline'}", picture, "JPEG", quality=quality, subsampling=subsampling, progressive=progressive)
    saved("JPEG gray", gray, "JPEG")
    saved("JPEG optimized", picture, "JPEG", optimize=True)
    saved("JPEG with a comment", picture, "JPEG", comment=b"a comment")
    saved("JPEG with restarts", picture, "JPEG", restart_marker_blocks=3)
    saved("JPEG CMYK", picture.convert("CMYK"), "JPEG", exact=False)
    saved("PNG", picture, "PNG")
    saved("PNG gray", gray, "PNG")
    saved("PNG palette", picture.quantize(64), "PNG")
    saved("PNG with alpha", picture.convert("RGBA"), "PNG")
    saved("PNG gray with alpha", gray.convert("LA"), "PNG")
    saved("PNG 1 bit", gray.convert("1"), "PNG")
    saved("GIF", picture.quantize(128), "GIF")
    return kinds


def images():
    sizes = [(17, 23), (48, 64), (63, 40), (100, 75)] if FULL else [(17, 23), (48, 64)]
    targets = [(1, 1), (8, 8), (15, 31), (32, 32), (64, 48), (97, 50), (130, 11)] if FULL else [(8, 8), (31, 15), (96, 70)]
    for size in sizes:
        for kind, data, exact in encoded(photo(*size)):
            options = {"dct_method": "INTEGER_FAST"} if kind.startswith("JPEG") else {}
            decoded = tf.io.decode_jpeg(data, channels=3, **options) if options else tf.io.decode_image(data, channels=3, expand_animations=False)
            yield {"kind": kind, "data": b64(data), "height": size[0], "width": size[1], "method": "", "antialias": False, "reference": "TensorFlow", "tolerance": 0 if exact else 4, "pixels": b64(decoded.numpy())}
            if not exact:
                continue
            for height, width in targets:
                for method, antialias in METHODS:
                    resized = eight_bits(tf.image.resize(decoded, (height, width), method=method, antialias=antialias))
                    yield {"kind": kind, "data": b64(data), "height": height, "width": width, "method": method, "antialias": antialias, "reference": "TensorFlow", "tolerance": 1, "pixels": b64(resized)}
                    # Pillow rounds to 8 bits between its two passes: of black beside white that cuts the overshoots.
                    is_cut = kind == "PNG 1 bit" and method != "bilinear"
                    if antialias and not is_cut and height <= size[0] and width <= size[1]:
                        by_pillow = np.asarray(Image.fromarray(decoded.numpy()).resize((width, height), PILLOW[method]))
                        yield {"kind": kind, "data": b64(data), "height": height, "width": width, "method": method, "antialias": True, "reference": "Pillow", "tolerance": 2, "pixels": b64(by_pillow)}


LITERALS = "0 1 -1 127 128 255 256 -128 -129 32767 32768 65535 65536 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616 1.0 1.5 1e2 -0.0 1e39 1e-50 1e300 1e400 NaN Inf -Inf Infinity -Infinity -NaN inf nan +1 .5 1. 01 0x1 true false null \"a\" \"\" {\"b64\":\"YQ==\"} {\"b64\":\"YQ\"} {\"b64\":\"YQ=\"} {\"b64\":\"-_-_\"} {\"b64\":1} {} []".split()
INTEGERS = {"int8": (-(2**31), 2**31), "int16": (-(2**31), 2**31), "int32": (-(2**31), 2**31), "uint8": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32), "uint64": (0, 2**64)}


def served(dtype, literal):
    """The rules of TensorFlow Serving's util/json_tensor.cc for one value: the element's bytes, or None."""
    import re

    if literal.startswith("{"):
        try:
            text = json.loads(literal).get("b64")
        except ValueError:
            return None
        good = dtype == "string" and isinstance(text, str) and re.fullmatch(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?", text)
        return base64.b64decode(text + "=" * (-len(text) % 4)) if good else None
    if literal.startswith('"'):
        return json.loads(literal).encode() if dtype == "string" else None
    if literal in ("true", "false"):
        return np.array(literal == "true") .tobytes() if dtype == "bool" else None
    word = re.fullmatch(r"(-?)(NaN|Inf|Infinity)", literal)
    number = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", literal)
    if not word and not number:
        return None
    value = np.nan if word and word[2] == "NaN" else float(literal.replace("Infinity", "inf"))
    if number and not np.isfinite(value):
        return None
    if dtype in ("float32", "float64"):
        with np.errstate(over="ignore"):
            return np.array(value).astype(dtype).tobytes()
    is_integer = number and not number[2] and not number[3]
    low, high = INTEGERS.get(dtype, (0, 0))
    if not is_integer or not low <= int(literal) < high:
        return None
    bits = np.dtype(dtype).itemsize * 8
    return (int(literal) % 2**bits).to_bytes(bits // 8, "little")


def json_values():
    for dtype in ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "bool", "string", "float16", "bfloat16", "uint16"]:
        for literal in LITERALS:
            value = None if dtype in ("float16", "bfloat16", "uint16") or literal == "[]" else served(dtype, literal)
            yield {"dtype": dtype, "literal": literal, "bytes": None if value is None else b64(value)}


def models():
    floats, texts = tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([None], tf.string, name="x")

    def lookup():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)
        module = tf.Module()
        module.table = table
        return module, tf.function(lambda x: {"y": table.lookup(x)}, input_signature=[texts]), np.array([b"a", b"z", b"b"])

    def plain(function, spec, given, **options):
        return lambda: (tf.Module(), tf.function(function, input_signature=[spec], **options), given)

    x = rng.normal(size=(4, 3)).astype(np.float32)
    words = np.array([b"one two", b"", b"three", b"a b c"])
    cases = {
        "matmul": plain(lambda x: {"y": x @ tf.ones([3, 2])}, floats, x),
        "control flow": plain(lambda x: {"y": tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * 1.5), [0, x])[1]}, floats, x),
        "conditional": plain(lambda x: {"y": tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x)}, floats, x),
        "ragged inside": plain(lambda x: {"y": tf.strings.split(x).row_lengths()}, texts, words),
        "sparse inside": plain(lambda x: {"y": tf.sparse.to_dense(tf.strings.split(x).to_sparse(), b"-")}, texts, words),
        "jit_compile": plain(lambda x: {"y": tf.nn.softmax(x * 2.0)}, floats, x, jit_compile=True),
        "string lookup": lookup,
        "text": plain(lambda x: {"y": tf.strings.join([tf.strings.upper(x), x], "|")}, texts, words),
        "several outputs": plain(lambda x: {"a": x + 1.0, "b": tf.cast(x, tf.int32), "c": x > 0}, floats, x),
        "bfloat16": plain(lambda x: {"y": tf.cast(x, tf.bfloat16)}, floats, x),
        "top k": plain(lambda x: dict(zip(("values", "indices"), tf.math.top_k(x, 2))), floats, x),
        "no batch": plain(lambda x: {"y": tf.reduce_mean(x)}, floats, x),
    }

    def tensor(value):
        value = np.asarray(value)
        if value.dtype.kind in "OSU":
            flat = [item if isinstance(item, bytes) else str(item).encode() for item in value.reshape(-1)]
            return {"dtype": "string", "shape": value.shape, "values": [b64(item) for item in flat]}
        return {"dtype": value.dtype.name, "shape": value.shape, "bytes": b64(value)}

    for name, make in cases.items():
        module, function, given = make()
        module.call = function
        directory = OUT / "models" / name.replace(" ", "_")
        tf.saved_model.save(module, str(directory), signatures={"serving_default": function})
        loaded = tf.saved_model.load(str(directory)).signatures["serving_default"]
        answer = {key: tensor(value.numpy()) for key, value in loaded(tf.constant(given)).items()}
        yield {"name": name, "directory": str(directory), "inputs": {"x": tensor(given)}, "outputs": answer}


for section in (arrays, protos, records, casts, digits, images, json_values, models):
    write(section.__name__, section())
versions = {"TensorFlow": tf.__version__, "NumPy": np.__version__, "Pillow": PIL.__version__}
(OUT / "versions.json").write_text(json.dumps(versions))
