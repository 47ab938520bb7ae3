"""What all parts of the oracle share."""

import base64
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np

OUT = pathlib.Path(sys.argv[1])
FULL = sys.argv[2] == "full"
rng = np.random.default_rng(20)


def b64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.tobytes()).decode()


def write(section, cases):
    with open(OUT / f"{section}.jsonl", "w") as file:
        for case in cases:
            file.write(json.dumps(case) + "\n")


def tensor(value):
    """An array as cases hold it."""
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        flat = [item if isinstance(item, bytes) else str(item).encode() for item in value.reshape(-1)]
        return {"dtype": "string", "shape": value.shape, "values": [b64(item) for item in flat]}
    return {"dtype": value.dtype.name, "shape": value.shape, "bytes": b64(value)}
