"""Pictures of every kind that is read: (kind, bytes, tolerance); most by Pillow, what it cannot write by hand."""

import io
import struct
import zlib

import numpy as np
import tensorflow as tf
from common import rng
from PIL import Image, ImageCms


def photo(height, width):
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + c)) * 60 + np.cos(y / (7 - c)) * 60 + 128 for c in range(3)]
    noise = rng.normal(0, 6, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def saved(image, form, **options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def kinds(pixels):
    picture = Image.fromarray(pixels)
    yield from jpegs(picture)
    yield from pngs(picture, pixels)
    yield from gifs(picture)
    yield from webps(picture)
    yield from tiffs(picture)


def jpegs(picture):
    for quality in (30, 75, 95):
        for subsampling, ratio in ((0, "4:4:4"), (1, "4:2:2"), (2, "4:2:0")):
            for progressive in (False, True):
                kind = f"JPEG quality {quality} {ratio} {'progressive' if progressive else 'baseline'}"
                yield kind, saved(picture, "JPEG", quality=quality, subsampling=subsampling, progressive=progressive), 0
    side = min(picture.size) // 16 * 16
    yield "JPEG 4:4:0", turned_factors(saved(picture.crop((0, 0, side, side)), "JPEG", subsampling=1)), 0
    yield "JPEG gray", saved(picture.convert("L"), "JPEG"), 0
    yield "JPEG optimized", saved(picture, "JPEG", optimize=True), 0
    yield "JPEG with a comment", saved(picture, "JPEG", comment=b"a comment"), 0
    yield "JPEG with restarts", saved(picture, "JPEG", restart_marker_blocks=3), 0
    yield "JPEG progressive with restarts", saved(picture, "JPEG", progressive=True, restart_marker_rows=1), 0
    yield "JPEG CMYK", saved(picture.convert("CMYK"), "JPEG"), 0
    for subsampling, ratio in ((0, "4:4:4"), (2, "4:2:0")):
        for progressive in (False, True):
            options = {"subsampling": subsampling, "progressive": progressive, "quality": 90}
            kind = f"{ratio} {'progressive' if progressive else 'baseline'}"
            yield f"JPEG YCCK {kind}", ycck(picture, **options), 0
            yield f"JPEG CMYK {kind}", saved(picture.convert("CMYK"), "JPEG", **options), 0
    for ratio, subsampling in (("4:4:4", 0), ("4:2:0", 2)):
        yield f"JPEG CMYK of full colors {ratio}", saved(blocks(picture.size).convert("CMYK"), "JPEG", quality=95, subsampling=subsampling), 0
    yield "JPEG CMYK without Adobe's marker", without_adobe(saved(picture.convert("CMYK"), "JPEG")), 0
    yield "JPEG RGB", saved(picture, "JPEG", keep_rgb=True), 0
    yield "JPEG with an ICC profile", saved(picture, "JPEG", icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()), 0
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield f"JPEG EXIF {orientation}", saved(picture, "JPEG", exif=exif), 0


def blocks(size):
    """Blocks of 5 x 5 pixels, each of a color of its own, saturated ones among them."""
    width, height = size
    colors = rng.integers(0, 256, (height // 5 + 1, width // 5 + 1, 3), dtype=np.uint8)
    return Image.fromarray(np.ascontiguousarray(np.kron(colors, np.ones((5, 5, 1), np.uint8))[:height, :width]))


def ycck(picture, **options):
    """Luma, chroma and black as the four colors of a CMYK JPEG, whose Adobe marker then says what they are."""
    black = picture.convert("L").point(lambda level: level // 3)
    data = saved(Image.merge("CMYK", (*picture.convert("YCbCr").split(), black)), "JPEG", **options)
    transform = data.index(b"Adobe") + 11
    assert data[transform] == 0
    return data[:transform] + b"\x02" + data[transform + 1 :]


def without_adobe(data):
    at = data.index(b"Adobe") - 4
    return data[:at] + data[at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") :]


def turned_factors(data):
    """The same bytes with the luma's sampling 1x2 in place of 2x1: of a square with sides of whole blocks, another picture."""
    at = data.index(b"\xff\xc0") + 11
    return data[:at] + b"\x12" + data[at + 1 :]


def pngs(picture, pixels):
    gray = picture.convert("L")
    sixteen = (pixels.astype(np.uint16) << 8) | rng.integers(0, 256, pixels.shape, dtype=np.uint16)
    yield "PNG", saved(picture, "PNG"), 0
    yield "PNG gray", saved(gray, "PNG"), 0
    yield "PNG 1 bit", saved(gray.convert("1"), "PNG"), 0
    for bits in (1, 2, 4, 8):
        yield f"PNG palette of {bits} bits", saved(picture.quantize(2**bits if bits < 8 else 200), "PNG", bits=bits), 0
    yield "PNG palette with transparency", saved(picture.quantize(16), "PNG", transparency=bytes(range(0, 256, 16))), 0
    yield "PNG with alpha", saved(with_alpha(picture), "PNG"), 0
    yield "PNG gray with alpha", saved(gray.convert("LA"), "PNG"), 0
    yield "PNG 16 bits", tf.io.encode_png(sixteen).numpy(), 0
    yield "PNG gray of 16 bits", tf.io.encode_png(sixteen[..., :1]).numpy(), 0
    yield "PNG 16 bits with alpha", tf.io.encode_png(np.concatenate([sixteen, sixteen[..., :1]], -1)).numpy(), 0
    yield "PNG interlaced", interlaced(pixels), 0
    yield "PNG with an ICC profile", saved(picture, "PNG", icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()), 0
    for bits in (2, 4):
        yield f"PNG gray of {bits} bits", packed_gray(np.asarray(gray), bits), 0


def with_alpha(picture):
    picture = picture.convert("RGBA")
    picture.putalpha(Image.linear_gradient("L").resize(picture.size))
    return picture


def chunk(kind, data):
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def png(width, height, bits, color, interlace, rows):
    header = struct.pack(">LLBBBBB", width, height, bits, color, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def interlaced(pixels):
    """Adam7: seven pictures, each of some of the pixels."""
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    parts = [pixels[y::down, x::right] for y, x, down, right in passes]
    rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
    return png(pixels.shape[1], pixels.shape[0], 8, 2, 1, rows)


def packed_gray(gray, bits):
    per = 8 // bits
    levels = np.pad(gray >> (8 - bits), [(0, 0), (0, -gray.shape[1] % per)])
    shifts = np.arange(8 - bits, -1, -bits)
    packed = (levels.reshape(len(gray), -1, per) << shifts).sum(-1).astype(np.uint8)
    return png(gray.shape[1], gray.shape[0], bits, 0, 0, b"".join(b"\0" + row.tobytes() for row in packed))


def gammas(pixels):
    """PNGs with chunks that declare a gamma: by themselves, several, without a meaning, behind the pixels."""
    plain = saved(Image.fromarray(pixels), "PNG")
    clear = saved(Image.fromarray(np.dstack([pixels, pixels[..., 0]])), "PNG")
    srgb, odd = chunk(b"sRGB", b"\0"), chunk(b"sRGB", b"\x09")
    values = (0, 1, 15, 16, 1000, 30000, 45455, 94999, 95000, 100000, 105000, 105001, 220000, 625000000, 2**31 - 1, 2**32 - 1)
    gamma = {value: chunk(b"gAMA", struct.pack(">I", value)) for value in values}
    several = ([srgb], [odd], [gamma[100000], srgb], [srgb, gamma[100000]], [gamma[0], srgb], [srgb, gamma[0]], [gamma[0], gamma[30000]], [gamma[30000], gamma[45455]], [odd, srgb], [odd, gamma[30000]], [gamma[30000], odd], [chunk(b"gAMA", b"\0\0\xb1")])
    for index, chunks in enumerate((*([value] for value in gamma.values()), *several)):
        yield f"PNG of gamma {index}", plain[:33] + b"".join(chunks) + plain[33:], 0
        yield f"PNG of gamma {index} with alpha", clear[:33] + b"".join(chunks) + clear[33:], 0
    yield "PNG of a gamma too late", plain[:-12] + srgb + plain[-12:], 0


def gifs(picture):
    still = picture.quantize(128)
    turned = picture.rotate(90).resize(picture.size)
    yield "GIF", saved(still, "GIF"), 0
    yield "GIF interlaced", saved(still, "GIF", interlace=1), 0
    yield "GIF not interlaced", saved(still, "GIF", interlace=0), 0
    yield "GIF of 2 colors", saved(picture.quantize(2), "GIF"), 0
    for disposal in (0, 1, 2):
        yield f"GIF animated, disposal {disposal}", saved(still, "GIF", save_all=True, append_images=[turned.quantize(64)], duration=50, disposal=disposal), 0


def webps(picture):
    yield "WebP lossy", saved(picture, "WEBP", quality=70), 0
    yield "WebP lossless", saved(picture, "WEBP", lossless=True), 0
    yield "WebP lossy with alpha", saved(with_alpha(picture), "WEBP", quality=70, exact=True), 0
    yield "WebP lossless with alpha", saved(with_alpha(picture), "WEBP", lossless=True, exact=True), 0
    yield "WebP animated", saved(picture, "WEBP", save_all=True, append_images=[picture.rotate(180)], duration=50, lossless=True), 0


def tiffs(picture):
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        yield f"TIFF {compression}", saved(picture, "TIFF", compression=compression), 0
    yield "TIFF gray", saved(picture.convert("L"), "TIFF"), 0
    yield "TIFF 1 bit", saved(picture.convert("1"), "TIFF"), 0
    yield "TIFF palette", saved(picture.quantize(32), "TIFF"), 0
    yield "TIFF with alpha", saved(with_alpha(picture), "TIFF"), 0
