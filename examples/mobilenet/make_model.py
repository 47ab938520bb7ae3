"""From Keras to a SavedModel: `python3 make_model.py [--weights auto|imagenet|random] [--out build]`.

Takes MobileNetV2 of Keras applications with its ImageNet weights, which Keras fetches once. Without them (`auto`, no
network) the weights are random: such a model takes as long and answers nonsense. The script says which they are.

Writes below `build/`: `model/1`, the SavedModel; `labels.txt`, a name a line; `samples/picture.png`, a drawn picture;
and `keras.json`, what Keras itself answers to that picture, which the test compares.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from tensorflow.keras.applications import mobilenet_v2

HERE = Path(__file__).parent
SIDE = 224
CLASSES = 1000
SEED = 1


def load_model(weights):
    """The model, and `imagenet` or `random`."""
    if weights == "random":
        return random_model(), "random"
    try:
        return mobilenet_v2.MobileNetV2(weights="imagenet"), "imagenet"
    except Exception as error:  # Keras has no error of its own for a download that failed.
        if weights == "imagenet":
            raise
        print(f"No ImageNet weights ({error}): they are random, and answers mean nothing.")
        return random_model(), "random"


def random_model():
    """Random weights whose answers depend on the picture: each layer is normalized by what some pictures make of it."""
    tf.keras.utils.set_random_seed(SEED)
    model = mobilenet_v2.MobileNetV2(weights=None)
    normalizing = [layer for layer in model.layers if isinstance(layer, tf.keras.layers.BatchNormalization)]
    for layer in normalizing:
        layer.momentum = 0.0
    noise = tf.random.uniform([4, SIDE, SIDE, 3], -1.0, 1.0)
    picture = tf.image.resize(draw(), [SIDE, SIDE]) / 127.5 - 1.0
    pictures = tf.concat([picture[tf.newaxis], tf.image.flip_up_down(picture)[tf.newaxis], noise], axis=0)
    model(pictures, training=True)
    return model


def labels(source):
    """Names of the 1,000 classes, by their number; of random weights only the numbers."""
    if source == "random":
        return [f"class {number}" for number in range(CLASSES)]
    likeliest = mobilenet_v2.decode_predictions(np.eye(CLASSES), top=1)
    return [name.replace("_", " ") for [(_, name, _)] in likeliest]


def export(model, folder):
    """The SavedModel, with names that callers see. A Keras 3 model is exported by Keras' own archive."""

    def classify(image):
        return {"probabilities": model(image, training=False)}

    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    spec = tf.TensorSpec([None, SIDE, SIDE, 3], tf.float32, name="image")
    archive.add_endpoint("serving_default", classify, input_signature=[spec])
    archive.write_out(str(folder), verbose=False)


def draw():
    """A picture that is not square: a red disk above a green field, under a sky that darkens upwards."""
    height, width = 300, 400
    y, x = np.mgrid[0:height, 0:width]
    sky = np.stack([90 + y // 3, 130 + y // 4, np.full_like(y, 220)], axis=-1)
    field = np.stack([60 + x // 10, np.full_like(x, 140), 50 + x // 12], axis=-1)
    picture = np.where((y > 200)[..., None], field, sky)
    disk = (y - 120) ** 2 + (x - 200) ** 2 < 70**2
    return np.where(disk[..., None], [205, 50, 45], picture).astype(np.uint8)


def answer(model, png):
    """What Keras says of the picture, resized to whole pixels and scaled as `preprocess.json` declares it."""
    pixels = tf.round(tf.image.resize(tf.io.decode_png(png, channels=3), [SIDE, SIDE]))
    image = mobilenet_v2.preprocess_input(pixels.numpy()[np.newaxis])
    return [float(value) for value in model(image, training=False).numpy()[0]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", choices=["auto", "imagenet", "random"], default="auto")
    parser.add_argument("--out", type=Path, default=HERE / "build")
    options = parser.parse_args()
    model, source = load_model(options.weights)
    samples = options.out / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    export(model, options.out / "model" / "1")
    png = tf.io.encode_png(draw()).numpy()
    (samples / "picture.png").write_bytes(png)
    (options.out / "labels.txt").write_text("\n".join(labels(source)) + "\n")
    told = {"weights": source, "probabilities": answer(model, png)}
    (options.out / "keras.json").write_text(json.dumps(told) + "\n")
    print(f"MobileNetV2 with {source} weights: {options.out}")


if __name__ == "__main__":
    main()
