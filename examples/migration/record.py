"""Records what `inference.py` answers in front of TensorFlow Serving: `record.py PREDICT_URL PICTURES > answers.json`."""
import json
import pathlib
import sys
from types import SimpleNamespace

import requests

from inference import input_handler, output_handler

CONTEXT = SimpleNamespace(request_content_type="application/x-image")

url, pictures = sys.argv[1:]
answers = []
for picture in sorted(pathlib.Path(pictures).iterdir()):
    with picture.open("rb") as data:
        response = requests.post(url, data=input_handler(data, CONTEXT))
    body, _ = output_handler(response, CONTEXT)
    answers.append(f'"{picture.name}": {json.dumps(json.loads(body))}')
print("{\n" + ",\n".join(answers) + "\n}")
