"""Puts image decoding into a SavedModel: wrap_image_input.py INPUT OUTPUT SETTINGS.

INPUT and OUTPUT are version directories. SETTINGS is JSON: signature, input, dtype, height, width, channels
(rgb, bgr, gray), layout (NHWC, NCHW), channelDimension, resize (stretch, cover, contain), padding,
interpolation, antialias, scale and offset (a list each, one number a channel: value = pixel * scale + offset).

The result has the signature serving_default with one DT_STRING input image_bytes [N] (JPEG, PNG, GIF or BMP)
and the outputs of the wrapped signature, which stays available under the name serving_tensors; others stay.
"""

import json
import shutil
import sys

import tensorflow as tf


def fit(picture, settings):
    """Resizes one picture [H, W, C] of float32 to the model's size."""
    height, width = settings["height"], settings["width"]
    method, antialias = settings["interpolation"], settings["antialias"]
    if settings["resize"] == "stretch":
        return tf.image.resize(picture, [height, width], method=method, antialias=antialias)
    size = tf.cast(tf.shape(picture)[:2], tf.float32)
    ratios = tf.constant([height, width], tf.float32) / size
    cover = settings["resize"] == "cover"
    ratio = tf.reduce_max(ratios) if cover else tf.reduce_min(ratios)
    limit = tf.maximum if cover else tf.minimum
    scaled = limit(tf.cast(tf.round(size * ratio), tf.int32), [height, width])
    picture = tf.image.resize(picture, tf.maximum(scaled, 1), method=method, antialias=antialias)
    if cover:
        return tf.image.resize_with_crop_or_pad(picture, height, width)
    padding = float(settings["padding"])
    return tf.image.resize_with_crop_or_pad(picture - padding, height, width) + padding


def decoder(settings):
    """One encoded picture to the elements of the model's input, without the batch."""
    count = 1 if settings["channels"] == "gray" else 3
    dtype = tf.as_dtype(settings["dtype"])

    def decode(data):
        picture = tf.io.decode_image(data, channels=count, expand_animations=False)
        picture = fit(tf.cast(picture, tf.float32), settings)
        picture = tf.ensure_shape(picture, [settings["height"], settings["width"], count])
        picture = tf.clip_by_value(picture, 0.0, 255.0)
        if dtype.is_integer and settings["scale"] == [1] * count and settings["offset"] == [0] * count:
            picture = tf.round(picture)
        if settings["channels"] == "bgr":
            picture = picture[..., ::-1]
        picture = picture * tf.constant(settings["scale"], tf.float32) + tf.constant(settings["offset"], tf.float32)
        if dtype.is_integer:
            picture = tf.round(picture)
        picture = tf.cast(picture, dtype)
        if not settings["channelDimension"]:
            return tf.squeeze(picture, -1)
        return tf.transpose(picture, [2, 0, 1]) if settings["layout"] == "NCHW" else picture

    return decode, dtype


def main() -> None:
    source, output, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    loaded = tf.saved_model.load(source)
    inner = loaded.signatures[settings["signature"]]
    decode, dtype = decoder(settings)

    class Wrapped(tf.Module):
        def __init__(self):
            super().__init__()
            self.model = loaded

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="image_bytes")])
        def serve(self, image_bytes):
            pictures = tf.map_fn(decode, image_bytes, fn_output_signature=dtype)
            return inner(**{settings["input"]: pictures})

    wrapped = Wrapped()
    others = {key: fn for key, fn in loaded.signatures.items() if key != settings["signature"]}
    signatures = {**others, "serving_tensors": inner, "serving_default": wrapped.serve}
    temporary = output + ".partial"
    tf.saved_model.save(wrapped, temporary, signatures=signatures)
    shutil.move(temporary, output)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # The last line is what the caller shows.
        raise SystemExit(f"{type(error).__name__}: {' '.join(str(error).split())}") from error
