"""Parquet as pyarrow writes and reads it."""

import io
import json
import sys

import arrays
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from common import FULL, OUT, b64, rng, tensor, write

NUMBERS = [name for name in arrays.NUMBERS if name != "float16"]
WAYS = [
    {"compression": compression, "use_dictionary": dictionary, "data_page_version": version}
    for compression in ("none", "snappy", "gzip", "brotli")
    for dictionary in (False, True)
    for version in ("1.0", "2.0")
]


def column(rows, kind, few):
    """Values of a column; few of them are written as a dictionary, in runs."""
    pick = rng.integers(0, min(3, rows), rows) if few else np.arange(rows)
    if kind == "string":
        texts = [f"{i} " + "é" * int(i % 4) for i in range(rows)]
        return np.array([texts[i] for i in pick], dtype=object)
    return arrays.array(kind, (rows,))[pick]


def tables():
    for index in range(160 if FULL else 16):
        rows = [1, 7, 100, 3000][index % 4]
        kinds = [*NUMBERS, "string"]
        values = {kind: column(rows, kind, index % 3 == 0) for kind in kinds}
        lists = {f"{kind}-list": arrays.array(kind, (rows, 3)) for kind in ("float32", "int64", "bool")}
        listed = {name: pa.array(list(value)) for name, value in lists.items()}
        table = pa.table({name: pa.array(value) for name, value in values.items()} | listed)
        file = io.BytesIO()
        pq.write_table(table, file, row_group_size=rows // 2 + 1, data_page_size=4096, **WAYS[index % len(WAYS)])
        yield {"file": b64(file.getvalue()), "columns": {name: tensor(value) for name, value in (values | lists).items()}}


def as_read(file):
    """Every column as an array: lists become axes."""
    table = pq.read_table(io.BytesIO(bytes.fromhex(file)))
    read = {}
    for name in table.column_names:
        values, kind = table[name].to_pylist(), table.schema.field(name).type
        while pa.types.is_list(kind):
            kind = kind.value_type
        read[name] = tensor(np.array(values, dtype=object if pa.types.is_string(kind) else kind.to_pandas_dtype()))
    return read


if __name__ == "__main__":
    with open(OUT / "tables_ours.jsonl") as cases:
        given = [json.loads(line) for line in cases]
    write("tables_written", ({"outputs": one["outputs"], "read": as_read(one["file"])} for one in given))
    sys.exit(0)
