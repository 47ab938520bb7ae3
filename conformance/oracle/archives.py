"""npz archives in every form that zipfile writes or reads, and what NumPy reads of them."""

import io
import struct
import zipfile
from unittest import mock

import numpy as np
from common import FULL, b64, rng, tensor

END = b"PK\5\6"


def npy(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def archive(members, compression=zipfile.ZIP_STORED, limit=None, force=False, comment=b""):
    """An archive of (name, bytes); limit: sizes beyond it are written as zip64."""
    stream = io.BytesIO()
    with mock.patch("zipfile.ZIP64_LIMIT", zipfile.ZIP64_LIMIT if limit is None else limit):
        with zipfile.ZipFile(stream, "w", compression) as zipped:
            zipped.comment = comment
            for name, content in members:
                with zipped.open(zipfile.ZipInfo(name), "w", force_zip64=force or limit is not None) as member:
                    member.write(content)
    return stream.getvalue()


def plain_count(data):
    """Of more than 65,535 members: the end records without zip64, as old writers leave it."""
    at = data.rindex(END)
    return data[: at - 76] + data[at:] if data[at - 20 : at - 16] == b"PK\6\7" else data


def poked(data, at, form, value):
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


def forms():
    arrays = [("a.npy", npy(rng.normal(size=(3, 4)).astype(np.float32))), ("b.npy", npy(np.arange(9)))]
    one = arrays[:1]
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        name = "stored" if compression == zipfile.ZIP_STORED else "deflated"
        whole = archive(arrays, compression)
        end, directory = whole.rindex(END), whole.index(b"PK\1\2")
        yield f"{name}", whole
        yield f"{name}, zip64 sizes in the directory", archive(arrays, compression, limit=0)
        yield f"{name}, zip64 in the headers", archive(arrays, compression, force=True)
        yield f"{name}, a comment", archive(arrays, compression, comment=b"made by hand")
        yield f"{name}, an end record within the comment", archive(arrays, compression, comment=b"..PK\5\6" + b"." * 40)
        for count in (1, 7, 65535 - 22, 65536, 100_000):
            yield f"{name}, {count} bytes after it", whole + bytes(count)
            yield f"{name}, {count} bytes before it", bytes(count) + whole
            yield f"{name}, zip64, {count} bytes before it", b"#" * count + archive(arrays, compression, limit=0)
        yield f"{name}, before and after", b"#!/bin/sh\n" + whole + b"\n"
        for count in (0, 1, 3, 65535):
            yield f"{name}, an end record that counts {count}", poked(poked(whole, end + 8, "<H", count), end + 10, "<H", count)
        for by in (-46, -1, 1, 46):
            size, offset = struct.unpack_from("<LL", whole, end + 12)
            yield f"{name}, a directory size off by {by}", poked(whole, end + 12, "<L", size + by)
            yield f"{name}, a directory offset off by {by}", poked(whole, end + 16, "<L", offset + by)
        yield f"{name}, another name in the header", whole.replace(b"a.npy", b"c.npy", 1)
        yield f"{name}, a wrong CRC", poked(whole, directory + 16, "<L", 1)
        yield f"{name}, marked as encrypted", poked(whole, directory + 8, "<H", 1)
        for method in (1, 12, 14, 99):
            yield f"{name}, method {method}", poked(whole, directory + 10, "<H", method)
        for length in range(0, len(whole), 1 if FULL else 7):
            yield f"{name}, cut at {length}", whole[:length]
    yield "no ending", archive([("a", one[0][1])])
    yield "one of two without an ending", archive([("a", one[0][1]), arrays[1]])
    yield "text beside arrays", archive([*arrays, ("readme.txt", b"hello")])
    yield "text named .npy", archive([("a.npy", b"hello")])
    yield "an empty member", archive([*arrays, ("c.npy", b"")])
    yield "a directory", archive([("d/", b""), ("d/a.npy", one[0][1])])
    yield "equal names", archive([*one, ("a.npy", npy(np.arange(3)))])
    yield "a name with and without its ending", archive([*one, ("a", npy(np.arange(3)))])
    yield "names beyond ASCII", archive([("é.npy", one[0][1]), ("日本.npy", one[0][1])])
    yield "nothing", archive([])
    yield "two archives, one after the other", archive(one) + archive(arrays)
    many = [(f"{index}", npy(np.uint8(index % 251))) for index in range(65_600)]
    yield "65,600 members, zip64", archive(many)
    yield "65,600 members, counted as 64", plain_count(archive(many))


def read(data):
    """name -> array as NumPy reads it; None where it refuses any."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except Exception:
        return None


#: Read by NumPy, refused here: this row of docs/where-it-differs.md.
DECISION = "npz with members that are no arrays, two of one name, or other bytes before it"
REFUSED = {"text beside arrays", "text named .npy", "an empty member", "a directory", "equal names", "two archives, one after the other", "a name with and without its ending"}


def archives():
    for name, data in forms():
        arrays = read(data)
        many = arrays is not None and len(arrays) > 1000
        yield {
            "kind": name,
            "data": b64(data),
            "count": None if arrays is None else len(arrays),
            "decision": DECISION if arrays is not None and name in REFUSED else None,
            "arrays": None if arrays is None or name in REFUSED else {key: tensor(value) for key, value in list(arrays.items())[-5 if many else 0 :]},
        }
