"""SavedModels and what Python TensorFlow answers for them."""

import numpy as np
import tensorflow as tf
from common import OUT, rng, tensor

def models():
    floats, texts = tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([None], tf.string, name="x")

    def lookup():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)
        module = tf.Module()
        module.table = table
        return module, tf.function(lambda x: {"y": table.lookup(x)}, input_signature=[texts]), np.array([b"a", b"z", b"b"])

    def plain(function, spec, given, **options):
        return lambda: (tf.Module(), tf.function(function, input_signature=[spec], **options), given)

    x = rng.normal(size=(4, 3)).astype(np.float32)
    words = np.array([b"one two", b"", b"three", b"a b c"])
    cases = {
        "matmul": plain(lambda x: {"y": x @ tf.ones([3, 2])}, floats, x),
        "control flow": plain(lambda x: {"y": tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * 1.5), [0, x])[1]}, floats, x),
        "conditional": plain(lambda x: {"y": tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x)}, floats, x),
        "ragged inside": plain(lambda x: {"y": tf.strings.split(x).row_lengths()}, texts, words),
        "sparse inside": plain(lambda x: {"y": tf.sparse.to_dense(tf.strings.split(x).to_sparse(), b"-")}, texts, words),
        "jit_compile": plain(lambda x: {"y": tf.nn.softmax(x * 2.0)}, floats, x, jit_compile=True),
        "string lookup": lookup,
        "text": plain(lambda x: {"y": tf.strings.join([tf.strings.upper(x), x], "|")}, texts, words),
        "several outputs": plain(lambda x: {"a": x + 1.0, "b": tf.cast(x, tf.int32), "c": x > 0}, floats, x),
        "bfloat16": plain(lambda x: {"y": tf.cast(x, tf.bfloat16)}, floats, x),
        "top k": plain(lambda x: dict(zip(("values", "indices"), tf.math.top_k(x, 2))), floats, x),
        "no batch": plain(lambda x: {"y": tf.reduce_mean(x)}, floats, x),
    }

    for name, make in cases.items():
        module, function, given = make()
        module.call = function
        directory = OUT / "models" / name.replace(" ", "_")
        tf.saved_model.save(module, str(directory), signatures={"serving_default": function})
        loaded = tf.saved_model.load(str(directory)).signatures["serving_default"]
        answer = {key: tensor(value.numpy()) for key, value in loaded(tf.constant(given)).items()}
        yield {"name": name, "directory": str(directory), "inputs": {"x": tensor(given)}, "outputs": answer}
