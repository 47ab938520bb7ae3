"""SavedModels of layers and exporters that are not this project's: a published one, Keras's and TF-Slim's networks with
random weights, Keras's preprocessing of text, TensorFlow 1's feature columns."""

import contextlib
import io
import pathlib
import shutil

import numpy as np
import tensorflow as tf
from common import FULL, OUT, rng, tensor

tf.get_logger().setLevel("ERROR")
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


WORDS = ["serving", "tensor", "flow", "na\u00efve"]
TEXTS = np.array([b"tensor flow", b"", b"Serving, serving!", "na\u00efve words of others".encode(), b"flow " * 30])


def exported(directory, model):
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(directory), verbose=False)


def endpoint(directory, layers, function, signature):
    """One function over layers of Keras, by its own exporter."""
    traced = tf.function(function, input_signature=signature)
    traced.get_concrete_function()
    archive = tf.keras.export.ExportArchive()
    for layer in layers:
        archive.track(layer)
    archive.add_endpoint("serving_default", traced)
    with contextlib.redirect_stdout(io.StringIO()):
        archive.write_out(str(directory), verbose=False)


def keras_text(directory):
    """Text is split (ragged inside) and looked up, then read by an LSTM (a loop)."""
    tf.keras.utils.set_random_seed(7)
    inputs = tf.keras.Input([], dtype=tf.string)
    tokens = tf.keras.layers.TextVectorization(vocabulary=WORDS, output_sequence_length=6)(inputs)
    embedded = tf.keras.layers.Embedding(8, 5, mask_zero=True)(tokens)
    read = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(embedded)
    exported(directory, tf.keras.Model(inputs, tf.keras.layers.Dense(3)(read)))
    return TEXTS


def keras_strings_out(directory):
    """A class by its name: a table of strings, with strings out."""
    names = tf.keras.layers.StringLookup(vocabulary=WORDS, invert=True, num_oov_indices=0)
    spec = tf.TensorSpec([None, 4], tf.float32, name="scores")
    endpoint(directory, [names], lambda scores: {"name": names(tf.argmax(scores, -1)), "all": names(tf.argsort(scores))}, [spec])
    return rng.normal(size=(5, 4)).astype(np.float32)


def keras_strings_both(directory):
    """Words to numbers and back, unknown ones as what stands for them."""
    there = tf.keras.layers.StringLookup(vocabulary=WORDS)
    back = tf.keras.layers.StringLookup(vocabulary=WORDS, invert=True)
    spec = tf.TensorSpec([None, None], tf.string, name="words")
    endpoint(directory, [there, back], lambda words: {"index": there(words), "word": back(there(words))}, [spec])
    return np.array([[b"flow", b"unknown"], ["na\u00efve".encode(), b""]])


def keras_ragged(directory):
    """Bags of words of any length: ragged tensors from end to end of the graph."""
    split = tf.keras.layers.TextVectorization(vocabulary=WORDS, ragged=True)
    many_hot = tf.keras.layers.CategoryEncoding(num_tokens=6, output_mode="count")
    spec = tf.TensorSpec([None], tf.string, name="texts")

    def serve(texts):
        tokens = split(texts)
        return {"length": tokens.row_lengths(), "bag": many_hot(tokens.to_tensor(shape=[None, 40])), "last": tokens[:, -1:].to_tensor(-1)}

    endpoint(directory, [split, many_hot], serve, [spec])
    return TEXTS


def keras_sparse(directory):
    """Hashed crosses of features, sparse inside."""
    crossed = tf.keras.layers.HashedCrossing(num_bins=7, output_mode="one_hot", sparse=True)
    hashed = tf.keras.layers.Hashing(num_bins=11, salt=3)
    specs = [tf.TensorSpec([3, 1], tf.string, name="city"), tf.TensorSpec([3, 1], tf.int64, name="hour")]

    def serve(city, hour):
        return {"cross": tf.sparse.to_dense(crossed((city, hour))), "hash": hashed(city)}

    endpoint(directory, [crossed, hashed], serve, specs)
    return {"city": np.array([[b"Graz"], [b""], [b"Oslo"]]), "hour": np.array([[0], [23], [-(2**62)]])}


def keras_jit(directory):
    """A network compiled by XLA."""
    tf.keras.utils.set_random_seed(7)
    model = tf.keras.Sequential([tf.keras.Input([12, 12, 3]), tf.keras.layers.Conv2D(4, 3), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(5, "softmax")])
    compiled = tf.function(model.call, jit_compile=True, input_signature=[tf.TensorSpec([2, 12, 12, 3], tf.float32, name="x")])
    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serving_default", compiled)
    with contextlib.redirect_stdout(io.StringIO()):
        archive.write_out(str(directory), verbose=False)
    return rng.normal(size=(2, 12, 12, 3)).astype(np.float32)


def slim_tag_sets(directory):
    """One file, three graphs over the same variables: for training, for serving, for serving on a GPU."""
    import tf_slim as slim

    v1 = tf.compat.v1
    builder = v1.saved_model.Builder(str(directory))
    for number, (tags, training) in enumerate(((["train"], True), (["serve"], False), (["serve", "gpu"], False))):
        with tf.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(7)
            x = v1.placeholder(tf.float32, [None, 28, 28, 1])
            net = slim.conv2d(x, 4, 3, stride=2)
            net = v1.nn.dropout(net, rate=0.5) if training else net
            logits = slim.conv2d(net, 10, [14, 14], padding="VALID", activation_fn=None)
            if tags == ["serve", "gpu"]:
                logits = logits + 100.0
            session.run(v1.global_variables_initializer())
            info = v1.saved_model.build_tensor_info
            signature = v1.saved_model.build_signature_def({"x": info(x)}, {"logits": info(logits)}, "tensorflow/serving/predict")
            add = builder.add_meta_graph_and_variables if number == 0 else builder.add_meta_graph
            add(*((session, tags) if number == 0 else (tags,)), signature_def_map={"serving_default": signature})
    builder.save()
    return rng.normal(size=(2, 28, 28, 1)).astype(np.float32)


def columns(directory):
    """TensorFlow 1's wide and deep: tf.Examples, vocabularies, hashes, buckets and crosses, sparse inside."""
    v1 = tf.compat.v1
    city = tf.feature_column.categorical_column_with_vocabulary_list("city", ["Graz", "Oslo"], num_oov_buckets=2)
    age = tf.feature_column.numeric_column("age", default_value=30.0)
    buckets = tf.feature_column.bucketized_column(age, [18, 40, 65])
    tags = tf.feature_column.categorical_column_with_hash_bucket("tags", 9)
    wide = [tf.feature_column.indicator_column(tf.feature_column.crossed_column([city, buckets], 12)), age]
    deep = [tf.feature_column.embedding_column(tags, 3, combiner="mean"), tf.feature_column.indicator_column(city)]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(7)
        records = v1.placeholder(tf.string, [None])
        parsed = tf.io.parse_example(records, tf.feature_column.make_parse_example_spec([*wide, *deep]))
        scores = tf.concat([v1.feature_column.input_layer(parsed, each) for each in (wide, deep)], 1)
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        v1.saved_model.simple_save(session, str(directory), {"examples": records}, {"scores": scores}, legacy_init_op=v1.tables_initializer())
    return np.array([example(city=[b"Graz"], age=[17.5], tags=[b"a", b"b"]), example(city=[b"Rome"], tags=[]), example(age=[70.0], tags=[b"c"])], object)


def example(**features):
    kinds = {key: tf.train.Feature(bytes_list=tf.train.BytesList(value=value)) if key != "age" else tf.train.Feature(float_list=tf.train.FloatList(value=value)) for key, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=kinds)).SerializeToString()


def frames(directory):
    """TensorFlow 1's own control flow: Enter, Exit, Switch and Merge."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph, v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 3])
            _, total = v1.while_loop(lambda i, _: i < 6, lambda i, s: (i + 1, v1.cond(tf.reduce_sum(s) > 0, lambda: s * 0.5, lambda: s - x)), [tf.constant(0), x])
            assert any(node.type == "Enter" for node in graph.get_operations())
            v1.saved_model.simple_save(session, str(directory), {"x": x}, {"total": total})
    finally:
        v1.enable_control_flow_v2()
    return rng.normal(size=(4, 3)).astype(np.float32)


SHORT = {"basic_pitch": basic_pitch, "slim_inception_v1": slim("inception.inception_v1", 224)} | {
    function.__name__: function
    for function in (keras_text, keras_strings_out, keras_strings_both, keras_ragged, keras_sparse, keras_jit, slim_tag_sets, columns, frames)
}
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
        inputs, outputs = answered(directory, given)
        yield {"name": name, "inputs": {key: tensor(value) for key, value in inputs.items()}, "outputs": {key: tensor(value) for key, value in outputs.items()}}
        tf.keras.backend.clear_session()


def answered(directory, given):
    """Inputs by name and the outputs, by a session: tf.saved_model.load cannot restore optimizers of older Keras."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], str(directory)).signature_def["serving_default"]
        inputs = given if isinstance(given, dict) else {next(iter(signature.inputs)): given}
        feeds = {signature.inputs[key].name: value for key, value in inputs.items()}
        return inputs, session.run({key: output.name for key, output in signature.outputs.items()}, feeds)
