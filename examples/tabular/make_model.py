"""Makes `model/1` and the rows in `samples/`: `python3 make_model.py`.

A bicycle courier's price: text and numbers in, a number and a text out. The weights are fitted to made-up trips, whose
prices follow a rule with some noise, so that the model is as small as its table is understandable.
"""

import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent
DISTRICTS = ["center", "harbor", "hills", "north"]
SURCHARGE = np.array([0.0, 1.5, 4.0, 2.5])
TRIPS = 2_000


def made_up_trips(random):
    district = random.integers(0, len(DISTRICTS), TRIPS)
    kilometers = random.gamma(3.0, 1.6, TRIPS)
    parcels = random.integers(1, 6, TRIPS)
    price = 3.0 + 1.2 * kilometers + 0.8 * parcels + SURCHARGE[district] + random.normal(0, 0.3, TRIPS)
    return district, kilometers, parcels, price


def fitted():
    """Least squares: the price of each district (the last for any other), a kilometer and a parcel."""
    district, kilometers, parcels, price = made_up_trips(np.random.default_rng(7))
    table = np.column_stack([np.eye(len(DISTRICTS))[district], kilometers, parcels])
    weights = np.linalg.lstsq(table, price, rcond=None)[0].astype(np.float32)
    base = weights[: len(DISTRICTS)]
    return np.append(base, base.mean()).astype(np.float32), weights[-2], weights[-1]


class Courier(tf.Module):
    def __init__(self):
        super().__init__()
        base, kilometer, parcel = fitted()
        self.base, self.kilometer, self.parcel = (tf.Variable(value) for value in (base, kilometer, parcel))
        known = tf.lookup.KeyValueTensorInitializer(DISTRICTS, np.arange(len(DISTRICTS), dtype=np.int64))
        self.districts = tf.lookup.StaticHashTable(known, default_value=len(DISTRICTS))

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="district"),
            tf.TensorSpec([None], tf.float32, name="kilometers"),
            tf.TensorSpec([None], tf.int64, name="parcels"),
        ]
    )
    def price(self, district, kilometers, parcels):
        base = tf.gather(self.base, self.districts.lookup(tf.strings.lower(tf.strings.strip(district))))
        price = base + self.kilometer * kilometers + self.parcel * tf.cast(parcels, tf.float32)
        tariff = tf.where(price < 8.0, "small", tf.where(price < 15.0, "medium", "large"))
        return {"price": price, "tariff": tariff}


ROWS = [
    ("center", 1.2, 1),
    ("harbor", 4.5, 2),
    ("hills", 9.8, 5),
    (" North ", 3.3, 1),
    ("islands", 7.0, 3),
]


def main():
    courier = Courier()
    tf.saved_model.save(courier, str(HERE / "model" / "1"), signatures={"serving_default": courier.price})
    samples = HERE / "samples"
    samples.mkdir(exist_ok=True)
    lines = ["district,kilometers,parcels", *(f"{d},{k},{p}" for d, k, p in ROWS)]
    (samples / "trips.csv").write_text("\n".join(lines) + "\n")
    instances = [{"district": d, "kilometers": k, "parcels": p} for d, k, p in ROWS]
    (samples / "trips.json").write_text(json.dumps({"instances": instances}, indent=2) + "\n")
    columns = [list(column) for column in zip(*ROWS)]
    answer = courier.price(*(tf.constant(c, d) for c, d in zip(columns, (tf.string, tf.float32, tf.int64))))
    expected = {
        "price": [float(value) for value in answer["price"].numpy()],
        "tariff": [value.decode() for value in answer["tariff"].numpy()],
    }
    (HERE / "answers.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
