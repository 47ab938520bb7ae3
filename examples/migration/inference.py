"""The handler as AWS's Python container runs it: a picture in, the likeliest digit and the scores of all out."""
import io
import json

import numpy as np
from PIL import Image


def input_handler(data, context):
    if context.request_content_type != "application/x-image":
        raise ValueError("send a picture as application/x-image")
    picture = Image.open(io.BytesIO(data.read())).convert("L").resize((28, 28))
    levels = np.asarray(picture, dtype=np.float32).reshape(1, 28, 28, 1) / 255
    return json.dumps({"instances": levels.tolist()})


def output_handler(response, context):
    if response.status_code != 200:
        raise ValueError(response.content.decode("utf-8"))
    scores = response.json()["predictions"][0]
    answer = {"digit": int(np.argmax(scores)), "scores": scores}
    return json.dumps(answer), "application/json"
