"""Pictures, as TensorFlow decodes and resizes them; what TensorFlow does not read, as Pillow decodes it."""

import io

import numpy as np
import tensorflow as tf
from common import FULL, OUT, b64, rng
from pictures import gammas, kinds, photo, saved
from PIL import Image, ImageOps
from tiffs import tiffs

#: Rows of docs/where-it-differs.md.
UPRIGHT, INKS, REFUSED, CUT = "EXIF orientation", "CMYK and YCCK JPEGs", "BigTIFF, and TIFFs with JPEG of the old kind (compression 6)", "`bicubic` and `lanczos3` with overshoots"
METHODS = [("nearest", False), ("area", False), *((m, a) for m in ("bilinear", "bicubic", "lanczos3") for a in (False, True))]
PILLOW = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS}
SIZES = [(17, 23), (48, 64), (63, 40), (100, 75)] if FULL else [(48, 61)]
FEW = [(8, 8), (31, 15), (96, 70)] if FULL else [(8, 9), (70, 31)]
#: Of one kind, every filter at each of these.
MANY = [(1, 1), (1, 50), (50, 1), (2, 3), *(tuple(int(side) for side in rng.integers(2, 160, 2)) for _ in range(36))]
THOROUGH = ("PNG", "JPEG quality 75 4:2:0 baseline")


def eight_bits(values):
    return np.clip(np.floor(np.asarray(values) + 0.5), 0, 255).astype(np.uint8)


def by_tensorflow(kind, data):
    """The pixels, and the row of docs/where-it-differs.md where TensorFlow's own are others."""
    if kind.startswith("JPEG"):
        pixels = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_FAST").numpy()
        if "CMYK" in kind or "YCCK" in kind:
            accurate = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy()
            return accurate, None if (accurate == pixels).all() else INKS
        orientation = Image.open(io.BytesIO(data)).getexif().get(0x0112, 1)
        upright = Image.fromarray(pixels)
        upright.getexif()[0x0112] = orientation
        return np.asarray(ImageOps.exif_transpose(upright)), UPRIGHT if orientation > 1 else None
    decoded = tf.io.decode_image(data, channels=3, expand_animations=True).numpy()
    return decoded if decoded.ndim == 3 else decoded[0], None


def by_pillow(data):
    image = Image.open(io.BytesIO(data))
    with_colors = image.convert("RGBA" if "A" in image.getbands() else "RGB")
    return np.asarray(with_colors)[..., :3]


def decoded_by(kind, data):
    if kind.startswith(("WebP", "TIFF")):
        return by_pillow(data), None
    return by_tensorflow(kind, data)


def images():
    for size in SIZES:
        for kind, data, tolerance in kinds(photo(*size)):
            decoded, decision = decoded_by(kind, data)
            height, width = decoded.shape[:2]
            case = {"kind": kind, "data": b64(data), "antialias": False, "decision": decision}
            yield {**case, "height": height, "width": width, "method": "", "tolerance": tolerance, "pixels": b64(np.ascontiguousarray(decoded))}
            if tolerance:
                continue
            for target in MANY if FULL and kind in THOROUGH else FEW:
                for method, antialias in METHODS:
                    yield from resized(case, decoded, target, method, antialias)
        for kind, data, decoded, tolerance in tiffs(Image.fromarray(photo(*size))):
            pixels = decoded is not None and b64(np.ascontiguousarray(decoded))
            yield {"kind": kind, "data": b64(data), "decision": None if pixels else REFUSED, "tolerance": tolerance, "method": "", "pixels": pixels}


def resized(case, decoded, target, method, antialias):
    height, width = target
    case = {**case, "height": height, "width": width, "method": method, "antialias": antialias}
    by_tensorflow = eight_bits(tf.image.resize(decoded, target, method=method, antialias=antialias))
    yield {**case, "tolerance": 1, "pixels": b64(by_tensorflow)}
    if antialias:
        by_pillow = np.asarray(Image.fromarray(decoded).resize((width, height), PILLOW[method]))
        if is_cut(decoded, width, method) and np.abs(by_pillow.astype(int) - by_tensorflow).max() > 2:
            yield {**case, "decision": CUT, "tolerance": 1, "pixels": b64(by_tensorflow)}
        else:
            yield {**case, "tolerance": 2, "pixels": b64(by_pillow)}


def photos():
    """Pictures of 12 million pixels, as phones take them."""
    picture = Image.fromarray(photo(3000, 4000))
    for index, options in enumerate(({}, {"progressive": True, "quality": 90}, {"exif": turned(6)}) if FULL else ({},)):
        data = saved(picture, "JPEG", **options)
        path = OUT / f"photo-{index}.jpg"
        path.write_bytes(data)
        decoded, decision = by_tensorflow("JPEG", data)
        for target in ((224, 224), (480, 640), (1, 1)) if FULL else ((224, 224),):
            for method, antialias in METHODS:
                yield from resized({"kind": path.name, "path": str(path), "decision": decision}, decoded, target, method, antialias)


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def is_cut(decoded, width, method):
    """Whether Pillow, which rounds to 8 bits between its two passes, cuts overshoots of the first by more than the tolerance."""
    first = tf.image.resize(decoded, (decoded.shape[0], width), method=method, antialias=True).numpy()
    return first.min() < -2 or first.max() > 257


def gray():
    """Pictures of one channel: JPEG's own gray, and what TensorFlow's PNG reader makes of colors."""
    for size in SIZES:
        pixels = photo(*size)
        for kind, data, _ in (*kinds(pixels), *gammas(pixels)):
            # TensorFlow makes no gray of four inks.
            if not kind.startswith(("PNG", "JPEG")) or any(word in kind for word in ("EXIF", "CMYK", "YCCK")):
                continue
            options = {"dct_method": "INTEGER_FAST"} if kind.startswith("JPEG") else {}
            decode = tf.io.decode_jpeg if options else tf.io.decode_png
            decoded = decode(data, channels=1, **options).numpy()
            height, width = decoded.shape[:2]
            yield {"kind": kind, "data": b64(data), "height": height, "width": width, "channels": "gray", "antialias": False, "method": "", "tolerance": 16 if "16" in kind else 0, "pixels": b64(decoded)}
