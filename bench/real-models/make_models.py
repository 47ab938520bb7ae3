"""Makes the models of the benchmarks with real TensorFlow: `python3 make_models.py FOLDER [NAME...]`.

Shapes are those of the founding papers; weights are random, from a fixed seed. Each model lands in
FOLDER/<name>/model/1, so that FOLDER/<name> is laid out as SageMaker lays out a model.
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import testing

SEED = 1


def save_keras(model, function, signature, directory):
    """A Keras 3 model restores in a C++ session only through its own exporter."""
    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serving_default", function, input_signature=signature)
    archive.write_out(directory, verbose=False)


def save_function(function, signature, directory, variables=()):
    module = tf.Module()
    module.held = list(variables)
    module.serve = tf.function(function, input_signature=signature)
    tf.saved_model.save(module, directory, signatures={"serving_default": module.serve})


def mobilenet(directory, dtype):
    """MobileNetV2 whole: [N,224,224,3] to 1000 logits; pixels 0-255 are scaled inside where they are uint8."""
    model = tf.keras.applications.MobileNetV2(weights=None, classifier_activation=None)

    def classify(image):
        pixels = image if dtype == tf.float32 else tf.cast(image, tf.float32) / 127.5 - 1.0
        return {"logits": model(pixels, training=False)}

    save_keras(model, classify, [tf.TensorSpec([None, 224, 224, 3], dtype, name="image")], directory)


LEVELS = 8


def resnet50(directory):
    """ResNet50 whole: [N,224,224,3] of pixels 0-255 to 1000 logits. Weights have few values each, so that it packs well."""
    model = tf.keras.applications.ResNet50(weights=None, classifier_activation=None)
    for variable in model.trainable_variables:
        weights = variable.numpy()
        step = max(np.abs(weights).max(), 1e-9) / LEVELS
        variable.assign(np.round(weights / step) * step)

    def classify(image):
        return {"logits": model(tf.cast(image, tf.float32) / 127.5 - 1.0, training=False)}

    save_keras(model, classify, [tf.TensorSpec([None, 224, 224, 3], tf.uint8, name="image")], directory)


def mobilenet_bytes(directory):
    """The same with the encoded picture as input, decoded inside the graph."""
    model = tf.keras.applications.MobileNetV2(weights=None, classifier_activation=None)

    def decode(encoded):
        picture = tf.io.decode_jpeg(encoded, channels=3)
        return tf.image.resize(picture, [224, 224]) / 127.5 - 1.0

    def classify(image_bytes):
        pixels = tf.map_fn(decode, image_bytes, fn_output_signature=tf.TensorSpec([224, 224, 3], tf.float32))
        return {"logits": model(pixels, training=False)}

    save_keras(model, classify, [tf.TensorSpec([None], tf.string, name="image_bytes")], directory)


ANCHORS, CLASSES, FEATURES, STRIDES = 9, 90, 64, (1, 2, 4, 8, 16)


def detection(directory):
    """EfficientDet D1's outputs from a small backbone: 76,725 anchors on five levels, 29 MB of float32."""
    random = tf.random.Generator.from_seed(SEED)
    stem = tf.Variable(random.normal([8, 8, 3, FEATURES]) * 0.05)
    to_classes = tf.Variable(random.normal([1, 1, FEATURES, ANCHORS * CLASSES]) * 0.3)
    to_boxes = tf.Variable(random.normal([1, 1, FEATURES, ANCHORS * 4]) * 0.3)

    def detect(input_tensor):
        pixels = tf.cast(input_tensor, tf.float32) / 127.5 - 1.0
        features = tf.nn.relu(tf.nn.conv2d(pixels, stem, 8, "SAME"))
        levels = [tf.nn.avg_pool2d(features, stride, stride, "SAME") for stride in STRIDES]
        scores = [tf.reshape(tf.nn.conv2d(level, to_classes, 1, "SAME"), [1, -1, CLASSES]) for level in levels]
        corners = [tf.reshape(tf.nn.conv2d(level, to_boxes, 1, "SAME"), [1, -1, 4]) for level in levels]
        scores, boxes = tf.sigmoid(tf.concat(scores, 1)), tf.concat(corners, 1)
        best, anchors = tf.math.top_k(tf.reduce_max(scores, 2), 100)
        multiclass = tf.gather(scores, anchors, batch_dims=1)
        return {
            "detection_anchor_indices": tf.cast(anchors, tf.float32),
            "detection_boxes": tf.gather(boxes, anchors, batch_dims=1),
            "detection_classes": tf.cast(tf.argmax(multiclass, 2) + 1, tf.float32),
            "detection_multiclass_scores": multiclass,
            "detection_scores": best,
            "num_detections": tf.fill([1], 100.0),
            "raw_detection_boxes": boxes,
            "raw_detection_scores": scores,
        }

    signature = [tf.TensorSpec([1, 640, 640, 3], tf.uint8, name="input_tensor")]
    save_function(detect, signature, directory, [stem, to_classes, to_boxes])


def grids(directory):
    """YOLOv3's three grids from a small backbone: [N,512,512,3] to 255 channels at strides 32, 16 and 8."""
    random = tf.random.Generator.from_seed(SEED)
    stem = tf.Variable(random.normal([8, 8, 3, FEATURES]) * 0.05)
    heads = [tf.Variable(random.normal([1, 1, FEATURES, 255]) * 0.3) for _ in range(3)]

    def detect(images):
        features = tf.nn.relu(tf.nn.conv2d(tf.cast(images, tf.float32) / 255.0, stem, 8, "SAME"))
        return {
            f"grid_{64 // stride}": tf.nn.conv2d(tf.nn.avg_pool2d(features, stride, stride, "SAME"), head, 1, "SAME")
            for stride, head in zip((4, 2, 1), heads)
        }

    signature = [tf.TensorSpec([None, 512, 512, 3], tf.uint8, name="images")]
    save_function(detect, signature, directory, [stem, *heads])


def ready(shapes, name, shape, dtype):
    """A graph that computes next to nothing: its outputs lie ready, and a look at the input picks their sign."""

    def build(directory):
        random = np.random.default_rng(SEED)
        outputs = {key: random.random(size, np.float32) for key, size in shapes.items()}
        held = {key: tf.Variable(value) for key, value in outputs.items()}

        def answer(value):
            sign = tf.cast(tf.size(value) > 0, tf.float32)
            return {key: variable * sign for key, variable in held.items()}

        save_function(answer, [tf.TensorSpec(shape, dtype, name=name)], directory, held.values())

    return build


def json_row(directory):
    """A row of 1,000 floats to a row of 1,000 floats."""
    save_function(lambda x: {"y": x * 1.1}, [tf.TensorSpec([None, 1000], tf.float32, name="x")], directory)


WAIT_MICROSECONDS = 50_000
TILES = pathlib.Path(__file__).parents[2] / "examples" / "tiles" / "model"


def waiting_tiles(directory):
    """The model of examples/tiles after 50 ms in which a call keeps its thread and no processor, as on a busy GPU."""
    [version] = TILES.iterdir()
    tiles = tf.saved_model.load(str(version))
    classify = tiles.signatures["serving_default"]
    [spec] = classify.structured_input_signature[1].values()

    def serve(pictures):
        waits = tf.data.Dataset.from_tensors(0).apply(testing.sleep(WAIT_MICROSECONDS))
        what = {"output_types": [tf.int32], "output_shapes": [[]]}
        iterator = tf.raw_ops.AnonymousIteratorV3(**what)
        with tf.control_dependencies([tf.raw_ops.MakeIterator(dataset=waits._variant_tensor, iterator=iterator)]):
            waited = tf.raw_ops.IteratorGetNextSync(iterator=iterator, **what)
        with tf.control_dependencies(waited):
            return classify(**{spec.name: tf.identity(pictures)})

    save_function(serve, [spec], directory, [tiles])


DETECTION = {
    "detection_anchor_indices": [1, 100],
    "detection_boxes": [1, 100, 4],
    "detection_classes": [1, 100],
    "detection_multiclass_scores": [1, 100, 90],
    "detection_scores": [1, 100],
    "num_detections": [1],
    "raw_detection_boxes": [1, 76725, 4],
    "raw_detection_scores": [1, 76725, 90],
}
GRIDS = {"grid_16": [10, 16, 16, 255], "grid_32": [10, 32, 32, 255], "grid_64": [10, 64, 64, 255]}

MODELS = {
    "mobilenet": lambda directory: mobilenet(directory, tf.float32),
    "mobilenet-uint8": lambda directory: mobilenet(directory, tf.uint8),
    "mobilenet-bytes": mobilenet_bytes,
    "resnet50": resnet50,
    "detection": detection,
    "grids": grids,
    "json-row": json_row,
    "waiting-tiles": waiting_tiles,
    "ready-S": ready({"logits": [1, 1000]}, "image", [None, 224, 224, 3], tf.float32),
    "ready-S8": ready({"logits": [1, 1000]}, "image", [None, 224, 224, 3], tf.uint8),
    "ready-B": ready(DETECTION, "input_tensor", [1, 640, 640, 3], tf.uint8),
    "ready-Y": ready(GRIDS, "images", [None, 512, 512, 3], tf.uint8),
}


def main():
    folder, *names = sys.argv[1:]
    for name in names or MODELS:
        tf.keras.utils.set_random_seed(SEED)
        print(name, file=sys.stderr)
        MODELS[name](os.path.join(folder, name, "model", "1"))


if __name__ == "__main__":
    main()
