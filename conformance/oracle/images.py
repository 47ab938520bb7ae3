"""Pictures, as TensorFlow and Pillow decode and resize them."""

import io

import numpy as np
import tensorflow as tf
from common import FULL, b64, rng
from PIL import Image

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
