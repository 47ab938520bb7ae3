"""Puts image decoding into a SavedModel: wrap_image_input.py INPUT OUTPUT SETTINGS.

INPUT and OUTPUT are version directories. SETTINGS is JSON: signature, input, dtype, height, width, channels
(rgb, bgr, gray), layout (NHWC, NCHW), channelDimension, resize (stretch, cover, contain), padding,
interpolation, antialias, scale and offset (a list each, one number a channel: value = pixel * scale + offset),
boxes (an output of boxes of what the model sees, which become boxes of the picture that was sent).

The result has the signature serving_default with one DT_STRING input image_bytes [N] (JPEG, PNG, GIF or BMP)
and the outputs of the wrapped signature, which stays available under the name serving_tensors; others stay.
"""

import json
import shutil
import sys

import tensorflow as tf


def place(size, frame, resize):
    """Where a picture lies in the model's frame, by the rules of the runtime (tensors/src/placement.ts).

    Start and size of the part of the picture that is seen, then of the part of the frame that it fills: each [y, x].
    """
    nowhere = tf.zeros_like(size)
    if resize == "contain":
        # As tf.image.resize_with_pad, which knows no padding but 0 and refuses what becomes less than a pixel.
        # Graphs multiply by 1 / frame, which in 32 bits may be another quotient; of 64 bits 32 are left that are right.
        ratios = tf.cast(tf.cast(size, tf.float64) / tf.cast(frame, tf.float64), tf.float32)
        fitted = tf.cast(size, tf.float32) / tf.reduce_max(ratios)
        bars = tf.cast(tf.floor((tf.cast(frame, tf.float32) - fitted) / 2), tf.int32)
        return nowhere, size, tf.maximum(bars, 0), tf.maximum(tf.cast(tf.floor(fitted), tf.int32), 1)
    if resize == "cover":
        # As Keras's crop_to_aspect_ratio. Products of two sides may need more than 32 bits.
        sides, whole = tf.cast(size, tf.int64), tf.cast(frame, tf.int64)
        wanted = tf.reverse(sides, [0]) * whole // tf.reverse(whole, [0])
        seen = tf.cast(tf.clip_by_value(wanted, 1, sides), tf.int32)
        return (size - seen) // 2, seen, nowhere, frame
    return nowhere, size, nowhere, frame


def fit(picture, settings):
    """One picture [H, W, C] of float32 in the model's size, and the model's frame in it.

    The frame is [top, left, height, width] in heights and widths of the picture, as the runtime's frameInPicture.
    """
    size, frame = tf.shape(picture)[:2], tf.constant([settings["height"], settings["width"]])
    start, seen, corner, filled = place(size, frame, settings["resize"])
    picture = tf.slice(picture, tf.concat([start, [0]], 0), tf.concat([seen, [-1]], 0))
    method, antialias = settings["interpolation"], settings["antialias"]
    picture = tf.image.resize(picture, filled, method=method, antialias=antialias)
    bars = tf.stack([corner, frame - corner - filled], 1)
    picture = tf.pad(picture, tf.concat([bars, [[0, 0]]], 0), constant_values=float(settings["padding"]))
    numbers = tf.cast(tf.stack([size, frame, start, seen, corner, filled]), tf.float64)
    size, frame, start, seen, corner, filled = tf.unstack(numbers)
    scale = seen / filled
    return picture, tf.concat([(start - corner * scale) / size, frame * scale / size], 0)


def in_pictures(boxes, frames):
    """Boxes [N, boxes, 4] of the model's frame as boxes of the pictures, of which frames [N, 4] are parts."""
    starts, sizes = tf.tile(frames[:, None, :2], [1, 1, 2]), tf.tile(frames[:, None, 2:], [1, 1, 2])
    return tf.ensure_shape(tf.cast(starts + tf.cast(boxes, tf.float64) * sizes, boxes.dtype), boxes.shape)


def decoder(settings):
    """One encoded picture to the elements of the model's input, without the batch, and the frame in the picture."""
    count = 1 if settings["channels"] == "gray" else 3
    dtype = tf.as_dtype(settings["dtype"])

    def decode(data):
        picture = tf.io.decode_image(data, channels=count, expand_animations=False)
        picture, frame = fit(tf.cast(picture, tf.float32), settings)
        picture = tf.ensure_shape(picture, [settings["height"], settings["width"], count])
        picture = tf.clip_by_value(picture, 0.0, 255.0)
        if dtype.is_integer and settings["scale"] == [1] * count and settings["offset"] == [0] * count:
            picture = tf.floor(picture + 0.5)
        if settings["channels"] == "bgr":
            picture = picture[..., ::-1]
        picture = picture * tf.constant(settings["scale"], tf.float32) + tf.constant(settings["offset"], tf.float32)
        if dtype.is_integer:
            picture = tf.floor(picture + 0.5)
        picture = tf.cast(picture, dtype)
        if not settings["channelDimension"]:
            return tf.squeeze(picture, -1), frame
        return tf.transpose(picture, [2, 0, 1]) if settings["layout"] == "NCHW" else picture, frame

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
            pictures, frames = tf.map_fn(decode, image_bytes, fn_output_signature=(dtype, tf.float64))
            outputs, boxes = inner(**{settings["input"]: pictures}), settings.get("boxes")
            return {**outputs, boxes: in_pictures(outputs[boxes], frames)} if boxes in outputs else outputs

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
