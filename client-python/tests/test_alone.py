"""What needs no runtime: bodies, answers, attributes, and what happens to calls that fail."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import socket
import time
import tracemalloc
import unittest
import warnings
import zipfile
import zlib
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any
from unittest import mock

import numpy as np
from opentelemetry import trace

from sagemaker_tfs_client import (
    Answer,
    Attributes,
    Endpoint,
    PredictionError,
    Url,
    format_attributes,
    images_body,
    json_body,
    parse_attributes,
    predict,
    predict_async,
    predict_stream,
    tensors_body,
    wait_for,
)
from sagemaker_tfs_client.errors import retry_after

from .servers import aws_client, reply, server

NPY = "application/x-npy"
NPZ = "application/x-npz"
JSON = "application/json"
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def answer(kind: str, data: bytes, outputs: tuple[str, ...] = (), **attributes: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return Answer(200, kind, named, data, outputs)


def saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def headed(dtype: str, size: int) -> bytes:
    """An array of that many elements, none of which follow."""
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


def archived(member: bytes, method: int, names: tuple[str, ...] = ("y.npy",)) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as archive:
        # Of a name that comes twice.
        warnings.simplefilter("ignore")
        for name in names:
            archive.writestr(name, member)
    return file.getvalue()


class Fails(unittest.TestCase):
    def fails(self, code: str, pattern: str, call) -> PredictionError:
        with self.assertRaisesRegex(PredictionError, pattern) as caught:
            call()
        self.assertEqual(caught.exception.code, code)
        return caught.exception


class Bodies(Fails):
    def test_one_array_is_what_numpy_saves(self) -> None:
        for array in (
            np.arange(6, dtype=np.float32).reshape(2, 3),
            np.array([2**63 - 1], np.int64),
            np.asfortranarray(np.ones((3, 2))),
            np.array(True),
            np.array(["é", ""]),
        ):
            body = tensors_body(array)
            self.assertEqual(body.content_type, NPY)
            self.assertEqual(body.data, saved(array))

    def test_several_by_name_are_an_archive_that_numpy_loads(self) -> None:
        tensors = {"file": np.array([1.5], np.float16), "a/b": np.array([b"\xff", "é"], object)}
        body = tensors_body(tensors)
        self.assertEqual(body.content_type, "application/x-npz")
        with np.load(io.BytesIO(body.data)) as loaded:
            self.assertEqual(sorted(loaded.files), ["a/b", "file"])
            self.assertEqual(loaded["file"].dtype, np.float16)
            self.assertEqual(loaded["a/b"].tolist(), [b"\xff", "é".encode()])

    def test_arrays_without_a_form_are_named(self) -> None:
        self.fails("BAD_OPTION", "'x' has dtype complex128", lambda: tensors_body({"x": [1j]}))
        self.fails("BAD_OPTION", "'x' is no array", lambda: tensors_body({"x": [[1], [2, 3]]}))
        self.fails("BAD_OPTION", "neither text nor bytes", lambda: tensors_body({"x": [None]}))
        zero = np.array([b"a\0"], object)
        self.fails("BAD_OPTION", "ends in a zero byte", lambda: tensors_body({"x": zero}))

    def test_json_loses_nothing(self) -> None:
        body = json_body(
            {
                "id": np.uint64(2**64 - 1),
                "x": np.array([0.1, np.nan, -np.inf], np.float32),
                "h": np.array([0.1], np.float16),
                "image": b"\x01\x02\x03",
                "words": np.array(["é", b"\xff"], object),
                "flag": np.bool_(True),
            }
        )
        self.assertEqual(
            body.data.decode(),
            '{"id":18446744073709551615,"x":[0.1,NaN,-Infinity],"h":[0.1],"image":{"b64":"AQID"},'
            '"words":["é",{"b64":"/w=="}],"flag":true}',
        )
        self.fails("BAD_OPTION", "no form in JSON: a function", lambda: json_body(lambda: 1))

    def test_every_float32_comes_back_from_its_digits(self) -> None:
        bits = np.random.default_rng(7).integers(0, 2**32, 20_000, dtype=np.uint32)
        floats = bits.view(np.float32)
        floats = floats[np.isfinite(floats)]
        read = np.array(json.loads(json_body(floats).data), np.float32)
        np.testing.assert_array_equal(read.view(np.uint32), floats.view(np.uint32))

    def test_images_stand_behind_their_lengths(self) -> None:
        self.assertEqual(images_body([b"\x09", b""]).data, b"\0\0\0\x01\x09\0\0\0\0")


class Answers(Fails):
    def test_npy_is_split_by_names_and_shapes(self) -> None:
        data = saved(np.arange(1, 7, dtype=np.int64))
        shapes = "a%2Cb%3A:2x2;count:;last:1"
        tensors = answer(NPY, data, tfs_output_shapes=shapes).tensors()
        self.assertEqual(list(tensors), ["a,b:", "count", "last"])
        self.assertEqual(tensors["a,b:"].tolist(), [[1, 2], [3, 4]])
        self.assertEqual(tensors["count"].shape, ())
        self.assertEqual(tensors["last"].tolist(), [6])

    def test_shapes_that_do_not_fit_or_are_missing_are_errors(self) -> None:
        data = saved(np.zeros(3, np.float32))
        wrong = answer(NPY, data, tfs_output_shapes="a:2;b:2")
        self.fails("UNREADABLE_ANSWER", "3 elements, tfs-output-shapes tells of 4", wrong.tensors)
        missing = answer(NPY, data, ("a", "b"))
        self.fails("UNREADABLE_ANSWER", "accept application/x-npz", missing.tensors)
        self.fails("UNREADABLE_ANSWER", "not readable as", answer(NPY, data[:-1]).tensors)
        pickled = io.BytesIO()
        np.save(pickled, np.array([{}], object), allow_pickle=True)
        self.fails("UNREADABLE_ANSWER", "pickle", answer(NPY, pickled.getvalue()).tensors)
        self.fails("UNREADABLE_ANSWER", "npz", answer("application/x-npz", b"PK").tensors)

    def test_an_output_that_comes_twice_is_an_error(self) -> None:
        data = saved(np.zeros(1, np.float32))
        shaped = answer(NPY, data, tfs_output_shapes="a:1;a:0")
        self.fails("UNREADABLE_ANSWER", "more than one output 'a'", shaped.tensors)
        twice = archived(data, zipfile.ZIP_STORED, names=("a.npy", "a"))
        self.fails("UNREADABLE_ANSWER", "more than one output 'a'", answer(NPZ, twice).tensors)

    def test_an_archive_is_no_array(self) -> None:
        inner = archived(saved(np.zeros(1)), zipfile.ZIP_DEFLATED)
        self.fails("UNREADABLE_ANSWER", "not readable", answer(NPY, inner).tensors)
        outer = archived(inner, zipfile.ZIP_STORED)
        self.fails("UNREADABLE_ANSWER", "not readable", answer(NPZ, outer).tensors)

    def test_whatever_is_damaged_is_read_or_a_prediction_error(self) -> None:
        array = saved(np.arange(12, dtype=np.float32).reshape(3, 4))
        stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
        methods = (stored, deflated, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        bodies = [(NPY, array), *((NPZ, archived(array, method)) for method in methods)]
        outcomes = set()
        for kind, body in bodies:
            for at in range(len(body)):
                for changed in (0, 1, 0xFF, body[at] ^ 1, body[at] ^ 0x80):
                    damaged = body[:at] + bytes([changed]) + body[at + 1 :]
                    try:
                        answer(kind, damaged).tensors()
                        outcomes.add("read")
                    except PredictionError as error:
                        outcomes.add(error.code)
        self.assertEqual(outcomes - {"ANSWER_TOO_LARGE"}, {"read", "UNREADABLE_ANSWER"})

    def test_what_becomes_no_other_dtype_is_an_error(self) -> None:
        texts = saved(np.array(["a"]))
        structs = saved(np.zeros(1, [("a", "i4"), ("b", "i4")]))
        empty = [headed(dtype, 10**12) for dtype in ("|V0", "|S0", "<U0")]
        arrays = [texts, structs, *empty]
        bodies = [("output", NPY, body) for body in arrays]
        bodies += [("y", NPZ, archived(body, zipfile.ZIP_STORED)) for body in arrays]
        bodies.append(("output", JSON, b'{"predictions": ["a", "b"]}'))
        for name, kind, body in bodies:
            with self.subTest(kind=kind, body=body[:120]):
                read = answer(kind, body)
                self.fails("UNREADABLE_ANSWER", "not readable", lambda: read.tensors({name: "float32"}))

    def test_bfloat16_is_widened(self) -> None:
        data = saved(np.array([0x3FC0, 0xBE80], np.uint16).view("V2"))
        self.assertEqual(answer(NPY, data).tensors()["output"].tolist(), [1.5, -0.25])

    def test_json_rows_and_columns(self) -> None:
        rows = b'{"predictions":[{"id":9223372036854775807,"p":1.0,"ok":true},{"id":-1,"p":2.0,"ok":false}]}'
        tensors = answer(JSON + "; charset=utf-8", rows).tensors()
        self.assertEqual([str(t.dtype) for t in tensors.values()], ["int64", "float64", "bool"])
        self.assertEqual(tensors["id"].tolist(), [2**63 - 1, -1])
        columns = answer(JSON, b'{"outputs":{"n":3,"big":[18446744073709551615],"x":[[1.0],[2.0]]}}')
        self.assertEqual(columns.tensors()["big"].dtype, np.uint64)
        self.assertEqual(columns.tensors()["n"].shape, ())
        named = answer(JSON, b'{"predictions":[[0.1,1],[2e-7,NaN]]}', ("scores",)).tensors()
        self.assertEqual(named["scores"].shape, (2, 2))
        self.assertEqual(named["scores"].dtype, np.float64)
        words = answer(JSON, b'{"predictions":["a",{"b64":"/w=="}]}').tensors()["output"]
        self.assertEqual(words.tolist(), ["a", b"\xff"])
        lines = answer("application/jsonlines", b'{"predictions":[[1.0]]}\n{"predictions":[[2.0]]}\n')
        self.assertEqual(lines.tensors()["output"].tolist(), [[1.0], [2.0]])
        small = answer(JSON, b'{"predictions":[0.1]}').tensors({"output": np.float32})["output"]
        self.assertEqual(small.tolist(), [float(np.float32(0.1))])
        self.assertEqual(answer(JSON, b'{"predictions":[]}').tensors()["output"].shape, (0,))

    def test_what_holds_no_tensors_says_so(self) -> None:
        for data, pattern in (
            (b'{"digit":7}', r"read it with json\(\)"),
            (b'{"predictions":[[1],[2,3]]}', r"output\[1\] is not a list of 1"),
            (b'{"predictions":[[1],2]}', r"output\[1\] is not a list"),
            (b'{"predictions":[1,[2]]}', r"output\[1\] is no number"),
            (b'{"predictions":[1,"a"]}', "mixes int, str"),
            (b'{"predictions":[{"a":1},{"b":1}]}', "'a'"),
            (b'{"predictions":[{"b64":"*"}]}', "no base64"),
            (b"", "it is empty"),
            (b"<html>", "not readable as application/json"),
            (b"[" * 100_000, "not readable as application/json"),
        ):
            with self.subTest(data[:40]):
                self.fails("UNREADABLE_ANSWER", pattern, answer(JSON, data).tensors)
        csv = answer("text/csv", b"1,2\n")
        self.fails("UNREADABLE_ANSWER", "'text/csv' holds no tensors", csv.tensors)
        self.fails("UNREADABLE_ANSWER", "JSON", answer(JSON, b"<html>").json)


class CustomAttributes(Fails):
    def test_values_are_encoded_and_come_back(self) -> None:
        odd = {"mine": "a,b %2C 100% ü\n"}
        header = format_attributes(Attributes(outputs=["boxes", "scores"], timings=True, others=odd))
        self.assertTrue(header.startswith("tfs-outputs=boxes%2Cscores,tfs-timings=1,mine="))
        self.assertRegex(header, r"^[\x20-\x7e]*$")
        names = format_attributes(Attributes(outputs=["a,b", "5%"]))
        self.assertEqual(names, "tfs-outputs=a%252Cb%2C5%2525")
        self.assertEqual(parse_attributes("a=%2C%C3%BC 50%,b,=c")["a"], ",ü 50%")

    def test_what_sagemaker_does_not_carry_is_refused(self) -> None:
        long = Attributes(outputs=["x" * 2000])
        self.fails("BAD_OPTION", "SageMaker carries 1024", lambda: format_attributes(long))
        url = Url("http://127.0.0.1:9")
        self.fails("BAD_OPTION", "printable ASCII", lambda: predict(url, b"", custom_attributes="é"))
        bad = Attributes(traceparent="00-1-2-3")
        self.fails("BAD_OPTION", "traceparent is '00-1-2-3'", lambda: format_attributes(bad))

    def test_the_span_of_the_caller_is_written(self) -> None:
        seen: list[str | None] = []

        def look(handler, body: bytes) -> None:
            seen.append(handler.headers["X-Amzn-SageMaker-Custom-Attributes"])
            reply(handler, 200, b"{}", Content_Type=JSON)

        context = trace.SpanContext(
            trace_id=0x0AF7651916CD43DD8448EB211C80319C,
            span_id=0xB7AD6B7169203331,
            is_remote=False,
            trace_flags=trace.TraceFlags(1),
        )
        with server(look) as url:
            predict(Url(url), "{}")
            with trace.use_span(trace.NonRecordingSpan(context)):
                predict(Url(url), "{}", custom_attributes=Attributes(timings=True))
        self.assertEqual(seen, [None, f"tfs-timings=1,traceparent={TRACEPARENT}"])


class Failures(Fails):
    def test_a_busy_server_is_asked_again_after_the_wait_that_it_asks_for(self) -> None:
        times: list[float] = []

        def busy(handler, body: bytes) -> None:
            times.append(time.monotonic())
            if len(times) == 1:
                error = b'{"error":"too many","code":"OVERLOADED"}'
                return reply(handler, 429, error, Retry_After="1")
            reply(handler, 200, body, Content_Type=JSON)

        with server(busy) as url:
            self.assertEqual(predict(Url(url), '{"a":1}').json(), {"a": 1})
        self.assertGreaterEqual(times[1] - times[0], 1.0)

    def test_an_error_tells_code_status_and_wait(self) -> None:
        def refuse(handler, body: bytes) -> None:
            reply(handler, 503, b'{"error":"loads","code":"MODEL_NOT_READY"}', Retry_After="99")

        with server(refuse) as url:
            error = self.fails("MODEL_NOT_READY", "answered 503: loads", lambda: predict(Url(url), "{}"))
        self.assertEqual((error.status, error.retry_after_seconds), (503, 99.0))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual(
            (copy.code, copy.status, copy.retry_after_seconds, str(copy)),
            (error.code, 503, 99.0, str(error)),
        )

    def test_what_must_not_be_seen_twice_is_sent_once(self) -> None:
        count = 0

        def drop(handler, body: bytes) -> None:
            nonlocal count
            count += 1
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True

        with server(drop) as url:
            once = lambda: predict(Url(url), "{}", idempotent=False)  # noqa: E731
            self.fails("CONNECTION_LOST", "ended before an answer", once)
            self.assertEqual(count, 1)
            self.fails("CONNECTION_LOST", "ended before", lambda: predict(Url(url), "{}", retries=1))
            self.assertEqual(count, 3)

    def test_half_an_answer_is_an_error(self) -> None:
        def cut(handler, body: bytes) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", JSON)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b'{"half"')
            handler.close_connection = True

        with server(cut) as url:
            self.fails("ANSWER_CUT", "within the answer", lambda: predict(Url(url), "{}"))
            with predict_stream(Url(url), "{}") as stream:
                self.fails("ANSWER_CUT", "within the answer", lambda: list(stream))

    def test_nothing_there(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        url = Url(f"http://127.0.0.1:{port}")
        self.fails("CONNECTION_REFUSED", "nothing listens", lambda: predict(url, "{}", retries=0))
        lost = Url("http://no-such-host.invalid")
        self.fails("HOST_NOT_FOUND", "not known", lambda: predict(lost, "{}", retries=0))
        self.fails("BAD_OPTION", "not an http", lambda: predict(Url("127.0.0.1:8080"), "{}"))

    def test_what_types_would_refuse(self) -> None:
        address: Any = "http://127.0.0.1:8080"
        for call in (predict, predict_stream, predict_async):
            self.fails("BAD_OPTION", "the target is 'http.* Give Url", lambda: call(address, b"{}"))
        for body in ({"instances": [[1]]}, [1], 5, None, np.zeros(2)):
            wrong: Any = body
            name = type(wrong).__name__
            self.fails(
                "BAD_OPTION",
                f"the body is of type {name}. Make one with json_body",
                lambda: predict(Url(address), wrong),
            )
        buffer: Any = bytearray(b"{}")
        with server(lambda h, body: reply(h, 200, body)) as url:
            self.assertEqual(predict(Url(url), buffer).data, b"{}")

    def test_a_page_of_a_proxy_is_shortened_and_explained(self) -> None:
        with server(lambda h, _: reply(h, 502, b"<html>" + b"x" * 10_000)) as url:
            error = self.fails("HTTP_502", "proxy before", lambda: predict(Url(url), "{}", retries=0))
        self.assertLess(len(str(error)), 1000)

    def test_retry_after_is_seconds_or_a_date(self) -> None:
        self.assertEqual(retry_after("7"), 7.0)
        later = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=60), usegmt=True)
        self.assertAlmostEqual(retry_after(later) or 0, 60, delta=5)
        far = "Fri, 31 Dec 99999999999 23:59:59 GMT"
        for text in (None, "", "soon", "-1", "1" * 400, far, far.replace("31", "9" * 20)):
            self.assertIsNone(retry_after(text))

    def test_what_an_endpoint_cannot_be_sent(self) -> None:
        target = Endpoint("digits", client=aws_client("sagemaker-runtime", "http://127.0.0.1:9"))
        empty = lambda: predict(target, "{}", target_model="")  # noqa: E731
        self.fails("BAD_OPTION", "cannot be sent", empty)
        several = lambda: predict_stream(target, "{}", target_model="a")  # noqa: E731
        self.fails("BAD_OPTION", "streams no answers of multi-model", several)

    def test_a_client_that_repeats_by_itself_is_left_alone(self) -> None:
        count = 0

        def refuse(handler, body: bytes) -> None:
            nonlocal count
            count += 1
            reply(handler, 503, b'{"Message":"busy"}', X_Amzn_ErrorType="ServiceUnavailable")

        with server(refuse) as url:
            for attempts in (2, 1):
                count = 0
                client = aws_client("sagemaker-runtime", url, attempts)
                call = lambda: predict(Endpoint("e", client=client), "{}", retries=3)  # noqa: E731
                self.assertEqual(self.fails("ServiceUnavailable", "busy", call).status, 503)
                self.assertEqual(count, {2: 2, 1: 4}[attempts])


class Queue(Fails):
    def test_an_answer_is_waited_for_in_s3(self) -> None:
        asked: list[str] = []

        def s3(handler, body: bytes) -> None:
            asked.append(handler.path)
            if handler.path.startswith("/bucket/out") and asked.count(handler.path) > 1:
                return reply(handler, 200, saved(np.ones(2)), Content_Type="binary/octet-stream")
            missing = b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>"
            reply(handler, 404, missing, Content_Type="application/xml")

        with server(s3) as url:
            prediction = self._queued(url, "out", accept=NPY)
            got = wait_for(prediction, s3_client=aws_client("s3", url))
        self.assertEqual(got.tensors()["output"].tolist(), [1.0, 1.0])

    def test_a_failure_is_told_in_the_words_of_the_container(self) -> None:
        def s3(handler, body: bytes) -> None:
            if handler.path.startswith("/bucket/fail"):
                text = b'Received client error (400) from primary with message "{"error":"no picture","code":"BAD_IMAGE"}". See log'
                return reply(handler, 200, text)
            reply(handler, 404, b"<Error><Code>NoSuchKey</Code></Error>")

        with server(s3) as url:
            prediction = self._queued(url, "none", accept=None)
            wait = lambda: wait_for(prediction, s3_client=aws_client("s3", url))  # noqa: E731
            error = self.fails("BAD_IMAGE", "no picture", wait)
        self.assertEqual(error.status, 400)

    def test_no_answer_in_time(self) -> None:
        with server(lambda h, _: reply(h, 404, b"<Error><Code>NoSuchKey</Code></Error>")) as url:
            prediction = self._queued(url, "none", accept=None)
            wait = lambda: wait_for(prediction, timeout_seconds=0.1, s3_client=aws_client("s3", url))  # noqa: E731
            self.fails("TIMEOUT", "did not answer within 0.1 s", wait)

    def _queued(self, url: str, key: str, accept: str | None):
        def accepts(handler, body: bytes) -> None:
            self.assertEqual(body, b"a picture")
            reply(
                handler, 202, b'{"InferenceId":"one"}', Content_Type=JSON,
                X_Amzn_SageMaker_OutputLocation=f"s3://bucket/{key}.out",
                X_Amzn_SageMaker_FailureLocation="s3://bucket/fail.out",
            )  # fmt: skip

        with server(accepts) as queue:
            target = Endpoint("digits", client=aws_client("sagemaker-runtime", queue))
            prediction = predict_async(
                target, b"a picture", content_type="image/jpeg", accept=accept
            )
        self.assertEqual(prediction.inference_id, "one")
        return prediction

    def test_what_is_too_large_goes_to_s3(self) -> None:
        target = Endpoint("digits", client=aws_client("sagemaker-runtime", "http://127.0.0.1:9"))
        large = bytes(128_001)
        self.fails("BAD_OPTION", "at most 128000. Put it into S3", lambda: predict_async(target, large))
        self.fails("BAD_OPTION", "no s3:// address", lambda: predict_async(target, "digit.jpg"))


class HostileServers(Fails):
    """Answers without end, bombs, redirects, and controls for terminals."""

    MIB = 1024 * 1024

    def asked(self, respond, **options):
        with server(respond) as url:
            return predict(Url(url), "{}", retries=0, **options).tensors()

    def too_large(self, respond) -> None:
        self.fails(
            "ANSWER_TOO_LARGE",
            "raise max_answer_bytes",
            lambda: self.asked(respond, max_answer_bytes=self.MIB),
        )

    def test_an_answer_is_held_once(self) -> None:
        size = 32 * self.MIB

        def large(handler, _) -> None:
            handler.send_response(200)
            handler.send_header("content-type", "application/octet-stream")
            handler.send_header("content-length", str(size))
            handler.end_headers()
            for _ in range(32):
                handler.wfile.write(bytes(self.MIB))

        with server(large) as url:
            tracemalloc.start()
            try:
                answer = predict(Url(url), "{}", retries=0)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
        self.assertEqual(len(answer.data), size)
        self.assertLess(peak, 1.5 * size)

    def test_answers_are_held_up_to_a_limit(self) -> None:
        zeros = bytes(64 * self.MIB)

        def endless(handler, _) -> None:
            handler.send_response(200)
            handler.end_headers()
            handler.close_connection = True
            try:
                while True:
                    handler.wfile.write(zeros[: self.MIB])
            except OSError:
                pass

        def compressed(handler, _) -> None:
            try:
                reply(handler, 200, gzip.compress(zeros), Content_Encoding="gzip")
            except OSError:
                pass

        packed = io.BytesIO()
        np.savez_compressed(packed, a=np.zeros(16 * self.MIB, np.float32))
        self.too_large(endless)
        self.too_large(compressed)
        self.too_large(
            lambda handler, _: reply(handler, 200, packed.getvalue(), Content_Type="application/x-npz")
        )

    def encoded(self, body: bytes, encoding: str = "gzip"):
        def send(handler, _) -> None:
            try:
                reply(handler, 200, body, Content_Encoding=encoding, Content_Type="text/csv")
            except OSError:
                pass

        return send

    def streamed(self, respond) -> bytes:
        with server(respond) as url, predict_stream(Url(url), "{}") as stream:
            return b"".join(stream)

    def test_compressed_answers_are_whole_or_an_error(self) -> None:
        text = b"".join(b"%d,%d\n" % (row, row * row) for row in range(100_000))
        packed = gzip.compress(text)
        self.assertEqual(self.streamed(self.encoded(packed)), text)
        self.assertEqual(self.streamed(self.encoded(packed + packed)), text + text)
        self.assertEqual(self.streamed(self.encoded(zlib.compress(text), "deflate")), text)
        self.assertEqual(self.streamed(self.encoded(b"")), b"")
        zeros = gzip.compress(bytes(8 * self.MIB))
        for cut in (packed[:5], packed[: len(packed) // 2], packed[:-1], packed + packed[:-4], zeros[:-9]):
            respond = self.encoded(cut)
            self.fails("ANSWER_CUT", "within the answer", lambda: self.streamed(respond))
            self.fails("ANSWER_CUT", "within the answer", lambda: self.asked(respond))
        self.fails("UNREADABLE_ANSWER", "not compressed as it says", lambda: self.asked(self.encoded(text)))

    def test_encodings_that_nobody_asked_for_are_not_unpacked(self) -> None:
        bomb = gzip.compress(gzip.compress(bytes(64 * self.MIB)))
        for encoding in ("gzip, gzip", "br", "zstd"):
            self.fails(
                "UNREADABLE_ANSWER",
                f"content encoding '{encoding}'",
                lambda: self.asked(self.encoded(bomb, encoding), max_answer_bytes=self.MIB),
            )

    def test_what_memory_does_not_hold_is_too_large(self) -> None:
        huge = answer(JSON, b"[1]")
        with mock.patch("json.loads", side_effect=MemoryError):
            self.fails("ANSWER_TOO_LARGE", "this process's memory", huge.json)
        with mock.patch.object(Answer, "text", side_effect=MemoryError):
            self.fails("ANSWER_TOO_LARGE", "this process's memory", huge.tensors)
        with mock.patch("sagemaker_tfs_client.url.beginning", side_effect=MemoryError):
            self.fails(
                "ANSWER_TOO_LARGE",
                "this process's memory",
                lambda: self.asked(lambda handler, _: reply(handler, 200, b"[1]")),
            )

    def test_the_time_limit_is_for_the_whole_answer(self) -> None:
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for first, drop in (
            (b"HTTP/1.1 200 OK\r\n", b"X-More: header\r\n"),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            (chunked, b"1\r\n \r\n"),
            (chunked + b"0\r\n", b"X-More: trailer\r\n"),
        ):

            def dribble(handler, _) -> None:
                handler.close_connection = True
                try:
                    handler.wfile.write(first)
                    for _ in range(100):
                        handler.wfile.write(drop)
                        time.sleep(0.05)
                except OSError:
                    pass

            with self.subTest(drop):
                begun = time.monotonic()
                self.fails(
                    "TIMEOUT", "within 0.5 s", lambda: self.asked(dribble, timeout_seconds=0.5)
                )
                self.assertLess(time.monotonic() - begun, 2)

    def test_a_shape_beyond_all_memory_is_unreadable(self) -> None:
        head = headed("<f8", 10**14)
        self.fails("UNREADABLE_ANSWER", "beyond this process's memory", lambda: answer(NPY, head).tensors())

    def test_a_header_that_does_not_end_is_unreadable(self) -> None:
        head = (b"(" * 110).ljust(117) + b"\n"
        data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
        self.fails("UNREADABLE_ANSWER", "not readable", lambda: answer(NPY, data).tensors())

    def test_a_redirect_is_not_followed(self) -> None:
        seen = []

        def redirect(handler, _) -> None:
            seen.append(handler.path)
            reply(handler, 307, b"", Location="http://127.0.0.1:9/elsewhere")

        error = self.fails(
            "REDIRECTED", "redirects to http://127.0.0.1:9/elsewhere", lambda: self.asked(redirect)
        )
        self.assertEqual((error.status, seen), (307, ["/invocations"]))

    def test_what_comes_before_an_answer_is_nobodys_answer(self) -> None:
        def early(handler, body) -> None:
            for interim in (b"100 Continue", b"102 Processing", b"103 Early Hints", b"199 Other"):
                handler.wfile.write(b"HTTP/1.1 " + interim + b"\r\nLink: </x>\r\n\r\n")
            handler.wfile.flush()
            time.sleep(0.05)
            reply(handler, 200, body, Content_Type="application/json")

        with server(early) as url:
            for asked in ("[1]", "[2]", "[3]"):
                answered = predict(Url(url), asked, retries=0)
                self.assertEqual((answered.status, answered.data), (200, asked.encode()))

        def switch(handler, _) -> None:
            handler.send_response_only(101)
            handler.end_headers()

        self.fails("UNREADABLE_ANSWER", "answers 101", lambda: self.asked(switch))

    def test_controls_are_written_out_and_errors_are_cut(self) -> None:
        text = "bad\x1b[2J\x9b\u202e\r\u200b\ufff9\U000e0041\U0001f600\nnext"
        body = json.dumps({"error": text, "code": "OH\x1b[31m"}).encode()
        error = self.fails(
            "HTTP_400", "", lambda: self.asked(lambda handler, _: reply(handler, 400, body))
        )
        self.assertIn("bad\\u001b[2J\\u009b\\u202e\\u000d\\u200b\\ufff9\\u{e0041}\U0001f600\nnext", error.message)
        long = json.dumps({"error": "x" * 100_000}).encode()
        error = self.fails(
            "HTTP_400", "", lambda: self.asked(lambda handler, _: reply(handler, 400, long))
        )
        self.assertLess(len(error.message), 11_000)

    def test_a_limit_that_cannot_be_meant(self) -> None:
        self.fails(
            "BAD_OPTION",
            "max_answer_bytes is 0",
            lambda: predict(Url("http://127.0.0.1:9"), "{}", max_answer_bytes=0),
        )


if __name__ == "__main__":
    unittest.main()
