"""TensorFlow Serving's REST API, from the rules of its util/json_tensor.cc, written anew."""

import base64
import json
import re

import numpy as np
from common import b64

LITERALS = "0 1 -1 127 128 255 256 -128 -129 32767 32768 65535 65536 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616 1.0 1.5 1e2 -0.0 1e39 1e-50 1e300 1e400 NaN Inf -Inf Infinity -Infinity -NaN inf nan +1 .5 1. 01 0x1 true false null \"a\" \"\" {\"b64\":\"YQ==\"} {\"b64\":\"YQ\"} {\"b64\":\"YQ=\"} {\"b64\":\"-_-_\"} {\"b64\":1} {} []".split()
INTEGERS = {"int8": (-(2**31), 2**31), "int16": (-(2**31), 2**31), "int32": (-(2**31), 2**31), "uint8": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32), "uint64": (0, 2**64)}


def served(dtype, literal):
    """The rules of TensorFlow Serving's util/json_tensor.cc for one value: the element's bytes, or None."""
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
