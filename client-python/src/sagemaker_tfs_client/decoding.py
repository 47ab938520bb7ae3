"""Answers that came compressed."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator

from .errors import answer_cut, unreadable

#: Bytes that are unpacked at a time, however well they were compressed.
_CHUNK = 64 * 1024
#: zlib and gzip, found by their beginning.
_BY_BEGINNING = zlib.MAX_WBITS | 32

_PLAIN = ("", "identity")
_READ = ("gzip", "x-gzip", "deflate")


def decoded(chunks: Iterator[bytes], encoding: str, address: str) -> Iterator[bytes]:
    """The body of an answer with this `Content-Encoding`. Requests ask for none, a proxy may compress nevertheless.

    Raises PredictionError ANSWER_CUT for a part of what was compressed, UNREADABLE_ANSWER for other encodings.
    """
    name = encoding.strip().lower()
    if name in _PLAIN:
        return chunks
    if name not in _READ:
        raise unreadable(
            f"the answer of {address} has the content encoding {encoding[:100]!r}, which was not asked for. "
            "Read are gzip and deflate, once."
        )
    return _unpacked(chunks, address)


def _unpacked(chunks: Iterator[bytes], address: str) -> Generator[bytes, None, None]:
    unpacker = zlib.decompressobj(_BY_BEGINNING)
    is_begun = False
    for chunk in chunks:
        rest = chunk
        while rest:
            if unpacker.eof:
                # gzip may be several in a row.
                unpacker = zlib.decompressobj(_BY_BEGINNING)
            is_begun = True
            try:
                piece = unpacker.decompress(rest, _CHUNK)
            except zlib.error as cause:
                raise unreadable(f"the answer of {address} is not compressed as it says: {cause}.") from cause
            rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if piece:
                yield piece
    if not is_begun:
        return
    # All bytes may be in while what they hold is not out.
    while not unpacker.eof:
        piece = unpacker.decompress(b"", _CHUNK)
        if not piece:
            raise answer_cut(address)
        yield piece
