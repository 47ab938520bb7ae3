"""TIFFs of every kind that is read: (kind, bytes, pixels, tolerance). Pixels are the array that was written, else Pillow's; None for what is refused by name."""

import io
import struct
import zlib

import numpy as np
from PIL import Image, TiffImagePlugin

DEFLATE = 8
JPEG_OLD = 6
FORMATS = {3: "H", 4: "I"}
TILE_SIDE = 16


def saved(image, **options):
    stream = io.BytesIO()
    image.save(stream, "TIFF", **options)
    return stream.getvalue()


def by_pillow(data):
    image = Image.open(io.BytesIO(data))
    return np.asarray(image.convert("RGBA" if "A" in image.getbands() else "RGB"))[..., :3]


def tiff(height, width, samples, parts, order="<", **more):
    """A file of these parts (strips, tiles or planes), with tags by number: `t317=2`."""
    bits = more.pop("bits", 8)
    kinds = {256: 3, 257: 3, 258: 3, 259: 3, 262: 3, 273: 4, 277: 3, 278: 3, 279: 4}
    values = {256: [width], 257: [height], 258: [bits] * samples, 259: [DEFLATE], 262: [2 if samples > 2 else 1], 277: [samples], 278: [height]}
    body, places = b"\0" * 8, []
    for part in parts:
        places.append(len(body))
        body += part + b"\0" * (len(part) % 2)
    values |= {273: places, 279: [len(part) for part in parts]}
    for name, given in more.items():
        values[int(name[1:])] = given if isinstance(given, list) else [given]
    if 324 in values:
        values |= {324: values.pop(273), 325: values.pop(279)}
        del values[278]
        kinds |= {324: 4, 325: 4}
    entries = b""
    for tag, numbers in sorted(values.items()):
        kind = kinds.get(tag, 3)
        packed = b"".join(struct.pack(order + FORMATS[kind], number) for number in numbers)
        place = packed.ljust(4, b"\0") if len(packed) <= 4 else struct.pack(order + "I", len(body))
        body += packed if len(packed) > 4 else b""
        entries += struct.pack(order + "HHI", tag, kind, len(numbers)) + place
    mark = b"II" if order == "<" else b"MM"
    head = mark + struct.pack(order + "HI", 42, len(body))
    return head + body[8:] + struct.pack(order + "H", len(values)) + entries + b"\0" * 4


def tiled(pixels, **more):
    height, width, samples = pixels.shape
    down, across = -height % TILE_SIDE, -width % TILE_SIDE
    padded = np.pad(pixels, [(0, down), (0, across), (0, 0)])
    parts = [
        zlib.compress(np.ascontiguousarray(padded[y : y + TILE_SIDE, x : x + TILE_SIDE]).tobytes())
        for y in range(0, height, TILE_SIDE)
        for x in range(0, width, TILE_SIDE)
    ]
    return tiff(height, width, samples, parts, t322=TILE_SIDE, t323=TILE_SIDE, t324=0, t325=0, **more)


def old_jpeg(picture):
    """Compression 6 of TIFF 6.0: a whole JPEG in the file, with its place in the tags."""
    stream = io.BytesIO()
    picture.save(stream, "JPEG", subsampling=0, quality=90)
    jpeg = stream.getvalue()
    return tiff(picture.height, picture.width, 3, [jpeg], t259=JPEG_OLD, t262=6, t530=[1, 1], t512=1, t513=8, t514=len(jpeg))


def by_hand(pixels):
    height, width, _ = pixels.shape
    gray = pixels[..., :1]
    wide = pixels.astype(np.uint16) * 256 + 99
    for order, name in (("<", "little"), (">", "big")):
        values = wide.astype(order + "u2")
        yield f"16 bits, {name} endian", tiff(height, width, 3, [zlib.compress(values.tobytes())], order, bits=16), pixels
        one = np.ascontiguousarray(values[..., :1])
        yield f"gray of 16 bits, {name} endian", tiff(height, width, 1, [zlib.compress(one.tobytes())], order, bits=16), np.repeat(gray, 3, -1)
    rows = [zlib.compress(row.tobytes()) for row in pixels]
    yield "a strip a row, big endian", tiff(height, width, 3, rows, ">", t278=1), pixels
    planes = [zlib.compress(np.ascontiguousarray(pixels[..., c]).tobytes()) for c in range(3)]
    yield "planes", tiff(height, width, 3, planes, t284=2), pixels
    steps = np.diff(pixels.astype(np.int16), axis=1, prepend=0).astype(np.uint8)
    yield "predictor", tiff(height, width, 3, [zlib.compress(steps.tobytes())], t317=2), pixels
    yield "tiles", tiled(pixels), pixels
    yield "tiles, big endian", tiled(pixels, order=">"), pixels
    yield "gray in tiles", tiled(np.ascontiguousarray(gray)), np.repeat(gray, 3, -1)
    yield "white is zero", tiff(height, width, 1, [zlib.compress((255 - gray).tobytes())], t262=0), np.repeat(gray, 3, -1)


def by_library(picture):
    gray = picture.convert("L")
    yield "packbits gray", saved(gray, compression="packbits")
    yield "CMYK", saved(picture.convert("CMYK"))
    yield "CMYK lzw", saved(picture.convert("CMYK"), compression="tiff_lzw")
    for compression in ("raw", "tiff_lzw"):
        yield f"YCbCr {compression}", saved(picture.convert("YCbCr"), compression=compression)
    for compression in ("group3", "group4"):
        yield compression, saved(gray.convert("1"), compression=compression)
    yield "palette lzw", saved(picture.quantize(200), compression="tiff_lzw")
    yield "gray with alpha", saved(gray.convert("LA"))
    yield "predictor lzw", saved(picture, compression="tiff_lzw", tiffinfo={317: 2})
    yield "two pages", saved(picture, save_all=True, append_images=[picture.rotate(180)])
    for mode in ("L", "RGB", "YCbCr", "CMYK"):
        yield f"JPEG of {mode}", saved(picture.convert(mode), compression="jpeg", quality=90)


def tiffs(picture):
    pixels = np.asarray(picture)
    for kind, data, expected in by_hand(pixels):
        yield f"TIFF {kind}", data, expected, 0
    for kind, data in by_library(picture):
        # Pillow converts YCbCr that libtiff need not decompress by itself, in rounded steps.
        yield f"TIFF {kind}", data, by_pillow(data), 1 if kind.startswith("YCbCr") else 0
    for orientation in range(1, 9):
        info = TiffImagePlugin.ImageFileDirectory_v2()
        info[274] = orientation
        for compression in ("raw", "tiff_lzw"):
            data = saved(picture, tiffinfo=info, compression=compression)
            yield f"TIFF orientation {orientation} {compression}", data, by_pillow(data), 0
    yield "TIFF JPEG of the old kind", old_jpeg(picture), None, 0
    yield "TIFF of 64 bits", saved(picture, big_tiff=True), None, 0
