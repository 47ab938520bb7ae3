"""Pictures as Keras brings them to a model's size: its layer, its functions for arrays and folders, and its way through Pillow."""

import io
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from common import FULL, b64
from images import METHODS, PILLOW, eight_bits, is_cut
from pictures import photo, saved
from PIL import Image

SIZES = [(48, 64), (63, 40), (100, 75), (37, 101), (5, 90)] if FULL else [(48, 61)]
TARGETS = [(8, 8), (31, 15), (24, 32), (96, 70), (64, 64), (201, 160), (1, 9)] if FULL else [(31, 15), (96, 70)]
#: Rows of docs/where-it-differs.md.
PAD, OUTSIDE, CUT = "`contain`", "`cover`", "`bicubic` and `lanczos3` with overshoots"
OF_FILTER = {"area": "`area`", "nearest": "`nearest`"}


def keras_images():
    for size in SIZES:
        pixels = photo(*size)
        picture = {"kind": f"{size[0]} x {size[1]}", "data": b64(saved(Image.fromarray(pixels), "PNG"))}
        for height, width in TARGETS:
            target = {**picture, "height": height, "width": width}
            for method, antialias in METHODS:
                for case in by_layer(pixels, (height, width), method, antialias):
                    yield {**target, "method": method, "antialias": antialias, **case}
            for method in ("nearest", "area", "bilinear", "bicubic", "lanczos3"):
                for case in (*by_functions(pixels, (height, width), method), *by_pillow(pixels, (height, width), method)):
                    yield {**target, "method": method, "antialias": False, **case}


def answer(resize, pixels, tolerance=1, **more):
    return {"resize": resize, "tolerance": tolerance, "pixels": b64(eight_bits(pixels)), **more}


def cropped(pixels, target):
    """The middle of a picture in the proportions of the target, as Keras cuts it."""
    (height, width), (down, across) = pixels.shape[:2], target
    crop_height, crop_width = max(1, min(height, width * down // across)), max(1, min(width, height * across // down))
    top, left = (height - crop_height) // 2, (width - crop_width) // 2
    return pixels[top : top + crop_height, left : left + crop_width]


def by_layer(pixels, target, method, antialias):
    layer = lambda **how: keras.layers.Resizing(*target, interpolation=method, antialias=antialias, **how)(pixels.astype("float32"))
    yield answer("stretch", layer())
    yield answer("cover", layer(crop_to_aspect_ratio=True))
    if not leaves_pixels(pixels, target):
        return
    # Keras makes the bars before it resizes, TensorFlow after it.
    ours = tf.image.resize_with_pad(pixels, *target, method=method, antialias=antialias)
    theirs = layer(pad_to_aspect_ratio=True)
    yield answer("contain", ours, **decided(ours, theirs, PAD))


def leaves_pixels(pixels, target):
    """TensorFlow refuses a picture that becomes less than a pixel high or wide between its bars; here it keeps one."""
    (height, width), (down, across) = pixels.shape[:2], target
    return height * across >= width and width * down >= height


def decided(ours, theirs, row, tolerance=1):
    differences = np.abs(eight_bits(ours).astype(int) - eight_bits(theirs))
    return {"decision": row} if differences.max() > tolerance else {}


def by_functions(pixels, target, method):
    for array in (pixels, tf.constant(pixels)):
        yield answer("cover", keras.preprocessing.image.smart_resize(array, target, interpolation=method))
    with tempfile.TemporaryDirectory() as folder:
        Image.fromarray(pixels).save(Path(folder) / "picture.png")
        ways = {"stretch": {}, "cover": {"crop_to_aspect_ratio": True}, "contain": {"pad_to_aspect_ratio": True}}
        for resize, how in ways.items():
            if resize == "contain" and not leaves_pixels(pixels, target):
                continue
            batches = keras.utils.image_dataset_from_directory(folder, labels=None, image_size=target, interpolation=method, shuffle=False, verbose=False, **how)
            yield answer(resize, next(iter(batches))[0])


def by_pillow(pixels, target, method):
    """Pillow's filters are those of TensorFlow with antialias, `box` and `nearest` apart."""
    name = {"lanczos3": "lanczos", "area": "box"}.get(method, method)
    load = lambda **how: np.asarray(keras.utils.load_img(io.BytesIO(saved(Image.fromarray(pixels), "PNG")), target_size=target, interpolation=name, **how))
    for resize, seen, theirs in (("stretch", pixels, load()), ("cover", cropped(pixels, target), load(keep_aspect_ratio=True))):
        antialias = method in PILLOW
        ours = tf.image.resize(seen, target, method=method, antialias=antialias)
        row = OF_FILTER.get(method)
        if antialias and is_cut(seen, target[1], method):
            row = CUT
        elif antialias and resize == "cover":
            row = OUTSIDE
        decision = decided(ours, theirs, row, 2) if row else {}
        if decision:
            yield answer(resize, ours, antialias=antialias, **decision)
        else:
            yield answer(resize, theirs, 2, antialias=antialias)
