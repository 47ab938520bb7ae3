"""
What Python TensorFlow, NumPy and Pillow make of generated inputs, as JSON lines:
python3 all.py OUT (short|full) SECTION...
"""

import json
import sys
from importlib.metadata import version

import archives
import arrays
import common
import documents
import foreign
import images
import keras
import keras_images
import models
import numpy as np
import PIL
import sagemaker_records
import tables
import tensorflow as tf

SECTIONS = (
    arrays.arrays,
    arrays.protos,
    arrays.records,
    sagemaker_records.sagemaker_records,
    tables.tables,
    arrays.casts,
    arrays.digits,
    archives.archives,
    images.images,
    images.gray,
    images.photos,
    keras_images.keras_images,
    documents.rest_published,
    documents.rest_generated,
    documents.json_values,
    models.models,
    foreign.foreign,
)

for section in SECTIONS:
    if section.__name__ in sys.argv[3:]:
        common.write(section.__name__, section())
versions = {
    "TensorFlow": tf.__version__,
    "Keras": keras.__version__,
    "NumPy": np.__version__,
    "Pillow": PIL.__version__,
    "SageMaker's Python SDK": version("sagemaker"),
    "pyarrow": version("pyarrow"),
}
(common.OUT / "versions.json").write_text(json.dumps(versions))
