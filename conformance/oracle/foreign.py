"""SavedModels that this project did not make: a published one, Keras's and TF-Slim's networks with random weights."""

import contextlib
import io
import pathlib
import shutil

import numpy as np
import tensorflow as tf
from common import FULL, OUT, rng, tensor

MODELS = OUT / "foreign"


def keras_application(name, size=64, **options):
    def make(directory):
        tf.keras.utils.set_random_seed(7)
        model = getattr(tf.keras.applications, name)(weights=None, classes=10, input_shape=(size, size, 3), **options)
        # Random weights give answers of nearly nothing; statistics of their own make every layer count.
        for weight in model.weights:
            if "moving_variance" in weight.path or "gamma" in weight.path:
                weight.assign(rng.uniform(0.5, 1.5, weight.shape))
        with contextlib.redirect_stdout(io.StringIO()):
            model.export(str(directory), verbose=False)
        return rng.uniform(0, 255, (2, size, size, 3)).astype(np.float32)

    return make


def slim(name, size, **options):
    """A network of TF-Slim as TensorFlow 1 exports it: a frozen session, variables by reference, simple_save."""

    def make(directory):
        import tf_slim.nets as nets

        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(7)
            x = v1.placeholder(tf.float32, [None, size, size, 3])
            module, _, function = name.partition(".")
            logits, ends = getattr(getattr(nets, module), function)(x, num_classes=10, is_training=False, **options)
            session.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(session, str(directory), {"images": x}, {"logits": logits, "probabilities": tf.nn.softmax(logits)})
        return rng.uniform(-1, 1, (2, size, size, 3)).astype(np.float32)

    return make


def tcn(directory):
    """keras-tcn, with dilated convolutions over text looked up in a vocabulary of its own."""
    import tcn as package

    tf.keras.utils.set_random_seed(7)
    inputs = tf.keras.Input([24, 5])
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(3)(package.TCN(8, dilations=(1, 2, 4))(inputs)))
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(directory), verbose=False)
    return rng.normal(size=(3, 24, 5)).astype(np.float32)


def basic_pitch(directory):
    import importlib.util

    package = pathlib.Path(importlib.util.find_spec("basic_pitch").submodule_search_locations[0])
    shutil.copytree(package / "saved_models" / "icassp_2022" / "nmp", directory)
    return rng.normal(size=(2, 43844, 1)).astype(np.float32)


SHORT = {"basic_pitch": basic_pitch, "slim_inception_v1": slim("inception.inception_v1", 224)}
LONG = {
    name: keras_application(name, size)
    for name, size in (
        ("MobileNet", 64),
        ("MobileNetV2", 64),
        ("MobileNetV3Small", 64),
        ("MobileNetV3Large", 64),
        ("EfficientNetB0", 64),
        ("EfficientNetV2B0", 64),
        ("ResNet50", 64),
        ("ResNet50V2", 64),
        ("InceptionV3", 96),
        ("Xception", 96),
        ("VGG16", 32),
    )
} | {
    "keras_tcn": tcn,
    "slim_inception_v2": slim("inception.inception_v2", 64),
    "slim_inception_v3": slim("inception.inception_v3", 96, create_aux_logits=False),
    "slim_resnet_v1_50": slim("resnet_v1.resnet_v1_50", 64),
    "slim_resnet_v1_101": slim("resnet_v1.resnet_v1_101", 64),
    "slim_resnet_v1_152": slim("resnet_v1.resnet_v1_152", 64),
    "slim_alexnet_v2": slim("alexnet.alexnet_v2", 224),
}


def foreign():
    for name, make in (SHORT | (LONG if FULL else {})).items():
        directory = MODELS / name / "1"
        given = make(directory)
        alias, outputs = answered(directory, given)
        yield {"name": name, "inputs": {alias: tensor(given)}, "outputs": {key: tensor(value) for key, value in outputs.items()}}
        tf.keras.backend.clear_session()


def answered(directory, given):
    """The only input's name and the outputs, by a session: tf.saved_model.load cannot restore optimizers of older Keras."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], str(directory)).signature_def["serving_default"]
        [(alias, info)] = signature.inputs.items()
        return alias, session.run({key: output.name for key, output in signature.outputs.items()}, {info.name: given})
