"""Against a running runtime: TEST_RUNTIME_URL, and TEST_SAGEMAKER_URL, which stands for SageMaker before it.

The models are those of test/fixtures, with the answers of Python TensorFlow to fixed inputs beside them.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
import unittest
from pathlib import Path

import numpy as np

from sagemaker_tfs_client import (
    Attributes,
    Endpoint,
    PredictionError,
    Target,
    Url,
    images_body,
    json_body,
    predict,
    predict_async,
    predict_stream,
    tensors_body,
)

from .servers import aws_client

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "test/fixtures/goldens"
SAMPLES = sorted((ROOT / "examples/digits/samples").iterdir())
RUNTIME = os.environ["TEST_RUNTIME_URL"]
SAGEMAKER = os.environ["TEST_SAGEMAKER_URL"]
ENDPOINT = "digits-endpoint"


def decoded(tensor: dict) -> np.ndarray:
    if tensor["dtype"] == "string":
        values = [base64.b64decode(value) for value in tensor["values"]]
        array = np.empty(len(values), object)
        array[:] = values
        return array.reshape(tensor["shape"])
    data = base64.b64decode(tensor["base64"])
    if tensor["dtype"] == "bfloat16":
        return np.frombuffer(data, "V2").reshape(tensor["shape"])
    return np.frombuffer(data, tensor["dtype"]).reshape(tensor["shape"])


def cases(model: str):
    """(signature, tolerance, inputs, outputs) of each golden that TensorFlow answered."""
    for file in sorted((GOLDENS / model / "1").glob("*.json")):
        golden = json.loads(file.read_text())
        for case in golden["cases"]:
            if "outputs" in case:
                inputs = {name: decoded(tensor) for name, tensor in case["inputs"].items()}
                outputs = {name: decoded(tensor) for name, tensor in case["outputs"].items()}
                yield golden["signature"], golden["tolerance"], inputs, outputs


def as_bytes(array: np.ndarray) -> list[bytes]:
    values = array.ravel().tolist()
    return [value.encode() if isinstance(value, str) else value for value in values]


class Against:
    """The same for a plain URL and for an endpoint."""

    target: Target

    def same(self, got: np.ndarray, want: np.ndarray, tolerance: float = 0.0) -> None:
        self.assertEqual(got.shape, want.shape)
        if want.dtype == object:
            return self.assertEqual(as_bytes(got), as_bytes(want))
        if want.dtype == np.dtype("V2"):
            want = (want.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_allclose(
            got.astype(want.dtype), want, rtol=tolerance, atol=tolerance, equal_nan=True
        )

    def test_every_dtype_there_and_back(self) -> None:
        seen = set()
        for signature, tolerance, inputs, outputs in cases("dtypes"):
            if any(array.shape[:1] == (0,) for array in inputs.values()):
                continue
            asked = Attributes(model_name="dtypes", signature=signature)
            with self.subTest(signature, kind="npz"):
                answer = predict(
                    self.target, tensors_body(inputs), accept="application/x-npz", custom_attributes=asked
                )
                tensors = answer.tensors()
                self.assertEqual(set(tensors), set(outputs))
                for name, want in outputs.items():
                    if want.dtype.kind in "biuf":
                        self.assertEqual(tensors[name].dtype, want.dtype)
                    self.same(tensors[name], want, tolerance)
            seen.add(signature)
            if any(array.dtype == np.dtype("V2") for array in inputs.values()):
                continue  # NumPy has no numbers for these to write as JSON.
            with self.subTest(signature, kind="JSON"):
                every = Attributes("grpc", "dtypes", signature=signature, outputs=list(outputs))
                answer = predict(self.target, json_body({"inputs": inputs}), custom_attributes=every)
                dtypes = {name: want.dtype for name, want in outputs.items() if want.dtype.kind in "biuf"}
                for name, got in answer.tensors(dtypes).items():
                    self.same(got, outputs[name], tolerance)
        self.assertGreater(len(seen), 10)

    def test_several_outputs_in_one_npy_array(self) -> None:
        _, tolerance, inputs, outputs = next(iter(cases("detection")))
        names = list(reversed(outputs))
        asked = Attributes(model_name="detection", outputs=names)
        answer = predict(
            self.target, tensors_body(inputs), accept="application/x-npy", custom_attributes=asked
        )
        tensors = answer.tensors()
        self.assertEqual(list(tensors), names)
        for name, got in tensors.items():
            self.same(got, outputs[name], tolerance)

    def test_pictures(self) -> None:
        files = SAMPLES[:20]
        digits = [int(re.search(r"-(\d)\.", file.name)[1]) for file in files]
        body = images_body(file.read_bytes() for file in files)
        for accept in ("application/x-npy", "application/x-npz", "application/json"):
            answer = predict(
                self.target, body, accept=accept, custom_attributes=Attributes(outputs=["probabilities"])
            )
            probabilities = answer.tensors()["probabilities"]
            self.assertEqual(probabilities.shape, (20, 10))
            self.assertEqual(probabilities.argmax(axis=1).tolist(), digits)
            self.assertEqual(answer.custom_attributes["tfs-model-version"], "1")

    def test_an_answer_streamed_is_the_answer(self) -> None:
        body = images_body(file.read_bytes() for file in SAMPLES[:2])
        with predict_stream(self.target, body, accept="application/x-npy") as stream:
            streamed = b"".join(stream)
        whole = predict(self.target, body, accept="application/x-npy")
        self.assertEqual(streamed, whole.data)
        self.assertEqual(stream.content_type, whole.content_type)
        self.assertEqual(stream.custom_attributes, whole.custom_attributes)
        with self.assertRaises(PredictionError) as caught:
            predict_stream(self.target, "no json")
        self.assertEqual((caught.exception.code, caught.exception.status), ("BAD_INPUT", 400))

    def test_the_error_is_the_container_s_own(self) -> None:
        asked = Attributes(signature="no_such_signature")
        with self.assertRaisesRegex(PredictionError, "no_such_signature") as caught:
            predict(self.target, json_body({"instances": [[1, 2]]}), custom_attributes=asked)
        self.assertEqual((caught.exception.code, caught.exception.status), ("UNKNOWN_SIGNATURE", 400))

    def test_threads_share_connections(self) -> None:
        body = tensors_body(np.zeros((1, 28, 28, 1), np.float32))
        failed: list[BaseException] = []

        def call() -> None:
            try:
                for _ in range(10):
                    predict(self.target, body, accept="application/x-npy").tensors()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


class AtUrl(Against, unittest.TestCase):
    target = Url(RUNTIME)

    def test_no_answer_in_time(self) -> None:
        steps = tensors_body(np.array(100_000, np.int64))
        with self.assertRaisesRegex(PredictionError, "within 0.1 s") as caught:
            predict(
                self.target, steps, custom_attributes=Attributes(model_name="busy"), timeout_seconds=0.1
            )
        self.assertEqual(caught.exception.code, "TIMEOUT")

    def test_a_stream_that_is_left_early_ends(self) -> None:
        body = tensors_body(np.zeros((64, 28, 28, 1), np.float32))
        for _ in range(40):
            with predict_stream(self.target, body, accept="application/x-npy") as stream:
                next(iter(stream))

    def test_what_the_docs_show_runs(self) -> None:
        pages = [ROOT / page for page in ("client-python/README.md", "docs/requests.md")]
        text = "\n".join(page.read_text() for page in pages)
        program = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
        printed: list[str] = []
        show = lambda *values: printed.append(" ".join(map(str, values)))  # noqa: E731
        here = os.getcwd()
        os.chdir(ROOT)
        try:
            exec(program.replace("http://127.0.0.1:8080", RUNTIME), {"print": show})
        finally:
            os.chdir(here)
        self.assertEqual(printed[1], "[7 3]")
        self.assertTrue(printed[3].startswith("BAD_IMAGE 400 None "), printed[3])
        self.assertTrue(printed[-2].endswith(" bytes"))
        self.assertEqual(printed[-1], "(1, 10)")


class AtEndpoint(Against, unittest.TestCase):
    target = Endpoint(ENDPOINT, client=aws_client("sagemaker-runtime", SAGEMAKER))

    def test_an_error_says_where_the_log_is(self) -> None:
        with self.assertRaisesRegex(PredictionError, "Its log: arn:aws:logs:"):
            predict(self.target, "not json")

    def test_an_endpoint_that_is_not_there(self) -> None:
        nobody = Endpoint("nobody", client=aws_client("sagemaker-runtime", SAGEMAKER))
        with self.assertRaisesRegex(PredictionError, "Check the name, the region") as caught:
            predict(nobody, "{}")
        self.assertEqual((caught.exception.code, caught.exception.status), ("ENDPOINT_NOT_FOUND", 400))

    def test_an_asynchronous_request_says_where_the_answer_will_lie(self) -> None:
        prediction = predict_async(self.target, "s3://bucket/digit.jpg", content_type="image/jpeg")
        self.assertEqual(prediction.inference_id, "inference-1")
        self.assertEqual(prediction.output_location, "s3://bucket/digit.jpg.out")


if __name__ == "__main__":
    unittest.main()
