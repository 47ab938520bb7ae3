"""Makes `model/1`, the picture in `samples/` and where its things are: `python3 make_model.py`.

The detector finds red, green and blue things. It has no weights: each pixel is given the color that stands out in it, and
neighbors of one color grow together into one thing. Names and shapes of its eight outputs are those of EfficientDet in the
TensorFlow Object Detection API, so that what serves this model serves those.
"""

import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent
SIDE = 640
CELL = 4  # pixels of a cell's side: boxes are exact to a cell
GRID = SIDE // CELL
CELLS = GRID * GRID
COLORS = 3
MOST = 100
MIN_CELLS = 12  # smaller things are noise


def color_strength(picture):
    """How far each color stands out from the other two in each cell, 0 to 1: [GRID, GRID, COLORS]."""
    pixels = tf.cast(picture, tf.float32)[tf.newaxis] / 255.0
    cells = tf.nn.avg_pool2d(pixels, CELL, CELL, "VALID")[0]
    others = [tf.maximum(cells[..., (c + 1) % 3], cells[..., (c + 2) % 3]) for c in range(COLORS)]
    return tf.clip_by_value(2.0 * (cells - tf.stack(others, axis=-1)), 0.0, 1.0)


def grown_together(mask):
    """The number of the thing that each cell belongs to, 0 for none: the largest cell number in it."""
    numbers = tf.reshape(tf.range(1, CELLS + 1, dtype=tf.float32), [GRID, GRID, 1]) * mask

    def grow(labels, _):
        next_labels = tf.nn.max_pool2d(labels[tf.newaxis], 3, 1, "SAME")[0] * mask
        return next_labels, tf.reduce_any(next_labels != labels)

    labels, _ = tf.while_loop(lambda _, changed: changed, grow, (numbers, tf.constant(True)))
    return tf.cast(tf.reshape(tf.reduce_max(labels, axis=-1), [CELLS]), tf.int32)


def detect(input_tensor):
    strength = color_strength(input_tensor[0])
    # A cell belongs to its strongest color alone.
    mask = tf.one_hot(tf.argmax(strength, axis=-1), COLORS) * tf.cast(strength > 0.25, tf.float32)
    things = grown_together(mask)
    scores = tf.reshape(strength, [CELLS, COLORS])
    cell = tf.range(CELLS, dtype=tf.int32)
    row, column = tf.cast(cell // GRID, tf.float32), tf.cast(cell % GRID, tf.float32)
    of = lambda reduce, values: reduce(values, things, CELLS + 1)
    edges = [
        of(tf.math.unsorted_segment_min, row),
        of(tf.math.unsorted_segment_min, column),
        of(tf.math.unsorted_segment_max, row) + 1.0,
        of(tf.math.unsorted_segment_max, column) + 1.0,
    ]
    raw_boxes = tf.gather(tf.stack(edges, axis=-1) / GRID, things)
    mean_scores = tf.gather(of(tf.math.unsorted_segment_mean, scores), things)
    cells = tf.gather(of(tf.math.unsorted_segment_sum, tf.ones([CELLS])), things)
    # One cell speaks for its thing: the one whose number it has.
    speaks = (things == cell + 1) & (cells >= MIN_CELLS)
    raw_scores = tf.where(speaks[:, tf.newaxis], mean_scores, 0.0)
    best, anchors = tf.math.top_k(tf.reduce_max(raw_scores, axis=-1), MOST)
    found = tf.cast(best > 0.0, tf.float32)
    multiclass = tf.gather(raw_scores, anchors)
    classes = (tf.cast(tf.argmax(multiclass, axis=-1), tf.float32) + 1.0) * found
    outputs = {
        "detection_anchor_indices": tf.cast(anchors, tf.float32),
        "detection_boxes": tf.gather(raw_boxes, anchors) * found[:, tf.newaxis],
        "detection_classes": classes,
        "detection_multiclass_scores": multiclass,
        "detection_scores": best,
        "raw_detection_boxes": raw_boxes,
        "raw_detection_scores": raw_scores,
    }
    batched = {name: value[tf.newaxis] for name, value in outputs.items()}
    return {**batched, "num_detections": tf.reduce_sum(found)[tf.newaxis]}


def save_model():
    module = tf.Module()
    spec = tf.TensorSpec([1, SIDE, SIDE, 3], tf.uint8, name="input_tensor")
    module.detect = tf.function(detect, input_signature=[spec])
    tf.saved_model.save(module, str(HERE / "model" / "1"), signatures={"serving_default": module.detect})


WIDTH, HEIGHT = 800, 480
FINE = 4  # subpixels of a pixel's side, for smooth edges
# Class, kind, and [top, left, bottom, right] in pixels.
THINGS = [
    ("red", "rectangle", (60, 80, 200, 260)),
    ("green", "circle", (220, 330, 420, 530)),
    ("blue", "triangle", (90, 560, 260, 740)),
    ("red", "circle", (330, 90, 430, 190)),
    ("blue", "rectangle", (320, 620, 440, 700)),
]
PAINT = {"red": (200, 52, 46), "green": (46, 150, 84), "blue": (48, 92, 190)}


def inside(kind, y, x):
    """Whether points of the unit square lie in the shape."""
    if kind == "circle":
        return (y - 0.5) ** 2 + (x - 0.5) ** 2 <= 0.25
    if kind == "triangle":
        return np.abs(x - 0.5) <= y / 2
    return np.ones_like(y + x, dtype=bool)


def draw():
    """The picture: things on gray paper with some grain, the same each time."""
    paper = np.full((HEIGHT * FINE, WIDTH * FINE, 3), 232.0)
    for name, kind, (top, left, bottom, right) in THINGS:
        y = (np.arange((bottom - top) * FINE) + 0.5)[:, None] / ((bottom - top) * FINE)
        x = (np.arange((right - left) * FINE) + 0.5)[None, :] / ((right - left) * FINE)
        part = paper[top * FINE : bottom * FINE, left * FINE : right * FINE]
        part[inside(kind, y, x)] = PAINT[name]
    smooth = paper.reshape(HEIGHT, FINE, WIDTH, FINE, 3).mean(axis=(1, 3))
    grain = np.random.default_rng(1).normal(0, 1.5, (HEIGHT, WIDTH, 1))
    return np.clip(smooth + grain, 0, 255).astype(np.uint8)


def save_picture():
    samples = HERE / "samples"
    samples.mkdir(exist_ok=True)
    (samples / "things.jpg").write_bytes(tf.io.encode_jpeg(draw(), quality=85).numpy())
    truth = [{"label": name, "box": list(box)} for name, _, box in THINGS]
    (HERE / "truth.json").write_text(json.dumps({"width": WIDTH, "height": HEIGHT, "things": truth}, indent=2) + "\n")


if __name__ == "__main__":
    save_model()
    save_picture()
