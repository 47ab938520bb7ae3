"""
Google's own stubs against a running model server, answer by answer against Python TensorFlow and the texts of TensorFlow
Serving's sources: python3 grpc_calls.py OUT (short|full) PORT MODELS
MODELS is a file of JSON: name -> base path. "half_plus_two" has the label "stable" on its version 1.
"""

import json
import pathlib
import sys

from common import FULL, rng, write

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

CHANNEL = grpc.insecure_channel(f"127.0.0.1:{sys.argv[3]}", options=[("grpc.max_receive_message_length", -1)])
PREDICTION = prediction_service_pb2_grpc.PredictionServiceStub(CHANNEL)
MODEL = model_service_pb2_grpc.ModelServiceStub(CHANNEL)
BASE_PATHS = {name: pathlib.Path(path) for name, path in json.loads(pathlib.Path(sys.argv[4]).read_text()).items()}
ROUNDS = 5 if FULL else 1


def array(value):
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)


def versions(name):
    return sorted((int(path.name), path) for path in BASE_PATHS[name].iterdir() if path.name.isdigit())


def case(what, difference, decision=None):
    """@param decision the row of docs/where-it-differs.md that the answer follows"""
    return {"what": what, "difference": difference or None, "decision": decision}


def failed(what, call, code, *texts):
    """A call that ends in a status with these texts."""
    try:
        call()
    except grpc.RpcError as error:
        wrong = [text for text in texts if text not in error.details()]
        right = error.code() == code and not wrong
        return case(what, "" if right else f"{error.code()} {error.details()}, not {code} with {wrong}")
    return case(what, "it answered")


def spec(message, name, version=None, label=None, signature=""):
    message.model_spec.name = name
    message.model_spec.signature_name = signature
    if version is not None:
        message.model_spec.version.value = version
    if label is not None:
        message.model_spec.version_label = label
    return message


def made_up(info):
    """An input that the signature takes; None where that needs knowledge of the model."""
    dtype = tf.as_dtype(info.dtype)
    if info.tensor_shape.unknown_rank or info.WhichOneof("encoding") != "name":
        return None
    shape = [dim.size if dim.size >= 0 else 2 for dim in info.tensor_shape.dim]
    if dtype == tf.string:
        return np.array(rng.choice([b"a", b"b", b"one two", b""], shape), object)
    if dtype == tf.bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_floating or dtype.is_complex:
        return rng.normal(size=shape).astype(dtype.as_numpy_dtype)
    return rng.integers(0, 5, shape).astype(dtype.as_numpy_dtype) if dtype.is_integer else None


def is_dense(info):
    return info.WhichOneof("encoding") == "name"


def meta_graph(path):
    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString((path / "saved_model.pb").read_bytes())
    return next((graph for graph in saved.meta_graphs if list(graph.meta_info_def.tags) == ["serve"]), None)


def near(ours, theirs):
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"
    if ours.dtype.kind in "cfV":
        wide = "complex128" if ours.dtype.kind == "c" else "float64"
        return "" if np.allclose(ours.astype(wide), theirs.astype(wide), 1e-5, 1e-6, equal_nan=True) else "other values"
    return "" if (ours == theirs).all() else "other values"


def session_of(path):
    """A session as TensorFlow Serving has one, and the signatures; None for a model without the tag "serve"."""
    graph = meta_graph(path)
    if graph is None:
        return None, {}
    v1 = tf.compat.v1
    session = v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        v1.saved_model.load(session, ["serve"], str(path))
    return session, graph.signature_def


def predict_cases(name, version, path):
    session, signatures = session_of(path)
    for key, signature in signatures.items():
        for _ in range(0 if key.startswith("__") else ROUNDS):
            inputs = {alias: made_up(info) for alias, info in signature.inputs.items()}
            if any(value is None for value in inputs.values()) or not all(map(is_dense, signature.outputs.values())):
                break

            def function(**given):
                fed = {signature.inputs[alias].name: value for alias, value in given.items()}
                return session.run({alias: info.name for alias, info in signature.outputs.items()}, fed)

            yield from predict_one(name, version, key, inputs, function, list(signature.outputs))


def predict_one(name, version, key, inputs, function, outputs):
    what = f"Predict {name} {version} {key}"
    request = spec(predict_pb2.PredictRequest(), name, version, signature=key)
    for alias, value in inputs.items():
        request.inputs[alias].CopyFrom(tf.make_tensor_proto(value))
    try:
        expected = {alias: array(value) for alias, value in function(**inputs).items()}
    except tf.errors.OpError as error:
        yield failed(what, lambda: PREDICTION.Predict(request), {3: grpc.StatusCode.INVALID_ARGUMENT, 9: grpc.StatusCode.FAILED_PRECONDITION, 12: grpc.StatusCode.UNIMPLEMENTED}.get(error.error_code))
        return
    carried = [alias for alias in outputs if not np.iscomplexobj(expected[alias])]
    refused = None if carried == outputs else refusal_of_complex(request)
    yield refused or case(what, answered(request, expected, name, version, key))
    wanted = carried[: 1 + len(carried) // 2]
    request.output_filter.extend(wanted)
    yield case(f"{what}, filtered", answered(request, {alias: expected[alias] for alias in wanted}, name, version, key))


def refusal_of_complex(request):
    """None where the server carries complex numbers, as TensorFlow Serving does."""
    try:
        PREDICTION.Predict(request)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.INVALID_ARGUMENT and "COMPLEX" in error.details():
            return case("Predict, a complex output", "", "Complex outputs")
    return None


def answered(request, expected, name, version, key):
    try:
        return answer_difference(PREDICTION.Predict(request), expected, name, version, key)
    except grpc.RpcError as error:
        return f"{error.code()} {error.details()}"


def answer_difference(answer, expected, name, version, key):
    own = answer.model_spec
    if (own.name, own.version.value, own.signature_name) != (name, version, key):
        return f"model_spec {text_format.MessageToString(own, as_one_line=True)}"
    if set(answer.outputs) != set(expected):
        return f"outputs {sorted(answer.outputs)}"
    found = (near(array(tf.make_ndarray(answer.outputs[alias])), value) for alias, value in expected.items())
    return next((difference for difference in found if difference), "")


def predict_refusals():
    """predict_util.cc, server_core.cc"""
    name, code = "half_plus_two", grpc.StatusCode

    def request(model=name, signature="", inputs=("x",), dtype=np.float32, wanted=(), **chosen):
        made = spec(predict_pb2.PredictRequest(), model, signature=signature, **chosen)
        for alias in inputs:
            made.inputs[alias].CopyFrom(tf.make_tensor_proto(np.ones([1, 1], dtype)))
        made.output_filter.extend(wanted)
        return lambda: PREDICTION.Predict(made)

    yield failed("no model of that name", request("nobody"), code.NOT_FOUND, "Servable not found for request: Latest(nobody)")
    yield failed("no such version", request(version=99), code.NOT_FOUND, f"Servable not found for request: Specific({name}, 99)")
    yield failed("no such label", request(label="nobody"), code.INVALID_ARGUMENT, "Unrecognized servable version label: nobody")
    yield failed("no such signature", request(signature="nobody"), code.FAILED_PRECONDITION, 'Serving signature key "nobody" not found.')
    yield failed("no inputs", request(inputs=()), code.INVALID_ARGUMENT, "input size does not match signature: 0!=1 len({}) != len({x}). Sent extra: {}. Missing but required: {x}.")
    yield failed("an input too many", request(inputs=("x", "more")), code.INVALID_ARGUMENT, "input size does not match signature: 2!=1 len({more,x}) != len({x}). Sent extra: {more}. Missing but required: {}.")
    yield failed("another input", request(inputs=("more",)), code.INVALID_ARGUMENT, "more")
    yield failed("another dtype", request(dtype=np.int32), code.INVALID_ARGUMENT)
    yield failed("no such output", request(wanted=["nobody"]), code.INVALID_ARGUMENT, "output tensor alias not found in signature: nobody Outputs expected to be in the set {y}.")
    yield failed("an output twice", request(wanted=["y", "y"]), code.INVALID_ARGUMENT, "duplicate output tensor alias: y")
    yield failed("no model_spec", lambda: PREDICTION.Predict(predict_pb2.PredictRequest()), code.INVALID_ARGUMENT, "Missing ModelSpec")
    broken = predict_pb2.PredictRequest()
    spec(broken, name).inputs["x"].CopyFrom(tf.make_tensor_proto(np.ones([4], np.float32)))
    broken.inputs["x"].tensor_shape.dim[0].size = 5
    yield failed("bytes that do not fill their shape", lambda: PREDICTION.Predict(broken), code.INVALID_ARGUMENT)
    for version, path in versions(name):
        labelled = spec(predict_pb2.PredictRequest(), name, label="stable")
        labelled.inputs["x"].CopyFrom(tf.make_tensor_proto([[1.0]]))
        if version == 1:
            yield case("a version by its label", "" if PREDICTION.Predict(labelled).model_spec.version.value == 1 else "another version")
    newest = versions(name)[-1][0]
    plain = spec(predict_pb2.PredictRequest(), name)
    plain.inputs["x"].CopyFrom(tf.make_tensor_proto([[1.0]]))
    yield case("the newest version without any", "" if PREDICTION.Predict(plain).model_spec.version.value == newest else "another version")


def example_of(**features):
    example = tf.train.Example()
    for name, value in features.items():
        example.features.feature[name].float_list.value.append(value)
    return example


def examples_cases(name, version, path):
    """Classify and Regress against what the signature makes of the serialized examples."""
    session, signatures = session_of(path)
    for key, signature in signatures.items():
        method = signature.method_name.rpartition("/")[2]
        if method not in ("classify", "regress"):
            continue
        examples = [example_of(x=value, x2=value + 1, a=value, b=-value) for value in rng.normal(size=3)]
        fed = {signature.inputs["inputs"].name: [example.SerializeToString() for example in examples]}
        names = {alias: info.name for alias, info in signature.outputs.items()}
        yield from examples_one(name, version, key, method, examples, lambda: session.run(names, fed))


def examples_one(name, version, key, method, examples, function):
    what = f"{method} {name} {version} {key}"
    request = {"classify": classification_pb2.ClassificationRequest, "regress": regression_pb2.RegressionRequest}[method]()
    spec(request, name, version, signature=key).input.example_list.examples.extend(examples)
    call = {"classify": PREDICTION.Classify, "regress": PREDICTION.Regress}[method]
    try:
        outputs = function()
    except (tf.errors.OpError, ValueError):
        yield failed(what, lambda: call(request), grpc.StatusCode.INVALID_ARGUMENT)
        return
    try:
        result = call(request).result
    except grpc.RpcError as error:
        yield case(what, f"{error.code()} {error.details()}")
        return
    yield case(what, classified(result, outputs) if method == "classify" else regressed(result, outputs))


def classified(result, outputs):
    classes, scores = outputs.get("classes"), outputs.get("scores")
    for row, found in enumerate(result.classifications):
        labels = [] if classes is None else [label.decode() for label in classes[row]]
        own = [entry.label for entry in found.classes]
        if classes is not None and own != labels:
            return f"labels {own} for {labels}"
        if scores is not None and not np.allclose([entry.score for entry in found.classes], scores[row], 1e-5):
            return "other scores"
    return "" if len(result.classifications) == len((scores if scores is not None else classes)) else "other rows"


def regressed(result, outputs):
    expected = outputs["outputs"].reshape(-1)
    return "" if np.allclose([entry.value for entry in result.regressions], expected, 1e-5) else "other values"


def examples_refusals():
    """classifier.cc, regressor.cc, util.cc"""
    code = grpc.StatusCode.INVALID_ARGUMENT
    classify = lambda signature, *examples: lambda: PREDICTION.Classify(filled(classification_pb2.ClassificationRequest(), signature, examples))
    regress = lambda signature, *examples: lambda: PREDICTION.Regress(filled(regression_pb2.RegressionRequest(), signature, examples))

    def filled(request, signature, examples):
        spec(request, "half_plus_three", signature=signature).input.example_list.examples.extend(examples)
        return request

    one = example_of(x=1.0)
    yield failed("Classify without examples", classify("classify_x_to_y"), code, "Input is empty")
    yield failed("Regress without examples", regress("tensorflow/serving/regress"), code, "Input is empty")
    yield failed("Classify, no such signature", classify("nobody", one), code, "nobody")
    yield failed("Regress, no such signature", regress("nobody", one), code, "No signature was found with the name: nobody")
    yield failed("Classify by a regress signature", classify("tensorflow/serving/regress", one), code)
    yield failed("Regress by a classify signature", regress("classify_x_to_y", one), code, "No regression outputs found")


def metadata_cases(name, version, path):
    graph = meta_graph(path)
    if graph is None:
        return
    request = spec(get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"]), name, version)
    answer = MODEL_METADATA(request)
    unpacked = get_model_metadata_pb2.SignatureDefMap()
    if not answer.metadata["signature_def"].Unpack(unpacked):
        yield case(f"metadata {name} {version}", "it does not unpack")
        return
    same = {key: value.SerializeToString(deterministic=True) for key, value in unpacked.signature_def.items()} == {
        key: value.SerializeToString(deterministic=True) for key, value in graph.signature_def.items()
    }
    yield case(f"metadata {name} {version}", "" if same and answer.model_spec.version.value == version else "other signatures")


MODEL_METADATA = PREDICTION.GetModelMetadata


def status_cases(name):
    known = [version for version, _ in versions(name)]
    answer = MODEL.GetModelStatus(spec(get_model_status_pb2.GetModelStatusRequest(), name))
    states = {status.version: status.state for status in answer.model_version_status}
    available = get_model_status_pb2.ModelVersionStatus.AVAILABLE
    yield case(f"status {name}", "" if states == dict.fromkeys(known, available) else f"{states} for {known}")
    for version in known:
        answer = MODEL.GetModelStatus(spec(get_model_status_pb2.GetModelStatusRequest(), name, version))
        [status] = answer.model_version_status
        yield case(f"status {name} {version}", "" if (status.version, status.state, status.status.error_code) == (version, available, 0) else str(status))


def other_refusals():
    code, status = grpc.StatusCode, get_model_status_pb2.GetModelStatusRequest
    yield failed("status of no model", lambda: MODEL.GetModelStatus(spec(status(), "nobody")), code.NOT_FOUND, "Could not find any versions of model nobody")
    yield failed("status of no version", lambda: MODEL.GetModelStatus(spec(status(), "half_plus_two", 99)), code.NOT_FOUND, "Could not find version 99 of model half_plus_two")
    yield failed("status without model_spec", lambda: MODEL.GetModelStatus(status()), code.INVALID_ARGUMENT, "Missing ModelSpec")
    # get_model_status_impl.cc looks at the version alone.
    labelled = MODEL.GetModelStatus(spec(status(), "half_plus_two", label="nobody"))
    yield case("status passes over labels", "" if len(labelled.model_version_status) == len(versions("half_plus_two")) else str(labelled))
    field = get_model_metadata_pb2.GetModelMetadataRequest
    yield failed("metadata without a field", lambda: MODEL_METADATA(spec(field(), "half_plus_two")), code.INVALID_ARGUMENT, "GetModelMetadataRequest must specify at least one metadata_field")
    yield failed("metadata of another field", lambda: MODEL_METADATA(spec(field(metadata_field=["other"]), "half_plus_two")), code.INVALID_ARGUMENT, "Metadata field other is not supported")
    yield failed("metadata of no model", lambda: MODEL_METADATA(spec(field(metadata_field=["signature_def"]), "nobody")), code.NOT_FOUND, "Servable not found for request: Latest(nobody)")
    yield failed("metadata without model_spec", lambda: MODEL_METADATA(field(metadata_field=["signature_def"])), code.INVALID_ARGUMENT, "Missing ModelSpec")


METHODS = {"classify": "tensorflow/serving/classify", "regress": "tensorflow/serving/regress"}


def multi_request(tasks, examples=(), name="half_plus_two", version=1):
    request = inference_pb2.MultiInferenceRequest()
    for key, method in tasks:
        task = request.tasks.add(method_name=METHODS.get(method, method))
        spec(task, name, version, signature=key)
    request.input.example_list.examples.extend(examples)
    return request


def multi_inference_cases(name, version, path):
    """Every signature of Classify and Regress in one call, against what the signature makes of the examples."""
    session, signatures = session_of(path)
    tasks = {key: signature.method_name.rpartition("/")[2] for key, signature in signatures.items()}
    tasks = {key: method for key, method in tasks.items() if method in METHODS}
    examples = [example_of(x=value, x2=value + 1, a=value, b=-value) for value in rng.normal(size=3)]
    fed = [example.SerializeToString() for example in examples]
    expected = {}
    for key in tasks:
        names = {alias: info.name for alias, info in signatures[key].outputs.items()}
        try:
            expected[key] = session.run(names, {signatures[key].inputs["inputs"].name: fed})
        except (tf.errors.OpError, ValueError, KeyError):
            continue
    if len(expected) < 2:
        return
    chosen = [(key, tasks[key]) for key in expected]
    answer = PREDICTION.MultiInference(multi_request(chosen, examples, name, version))
    for (key, method), result in zip(chosen, answer.results):
        own = result.model_spec
        if (own.name, own.version.value, own.signature_name) != (name, version, key):
            difference = f"model_spec {text_format.MessageToString(own, as_one_line=True)}"
        elif method == "classify":
            difference = classified(result.classification_result, expected[key])
        else:
            difference = regressed(result.regression_result, expected[key])
        yield case(f"MultiInference {name} {version} {key}", difference)


def multi_inference_refusals():
    """multi_inference.cc"""
    code, one = grpc.StatusCode, example_of(x=1.0)

    def refused(what, status, text, tasks, examples=(one,)):
        return failed(f"MultiInference, {what}", lambda: PREDICTION.MultiInference(multi_request(tasks, examples)), status, text)

    regress, classify = ("regress_x_to_y", "regress"), ("classify_x_to_y", "classify")
    yield refused("no tasks", code.INVALID_ARGUMENT, "ModelSpec has no name specified.", [])
    yield refused("a signature twice", code.INVALID_ARGUMENT, "Duplicate evaluation of signature: regress_x_to_y", [regress, regress])
    yield refused("no such signature", code.INVALID_ARGUMENT, "Requested signature not found in model graph: nobody", [("nobody", "regress")])
    yield refused("another method", code.UNIMPLEMENTED, "Unsupported signature method_name: nothing", [classify, ("serving_default", "nothing")])
    yield refused("no examples", code.INVALID_ARGUMENT, "Input is empty.", [regress, classify], [])
    for name, text in (("digits", "All ModelSpecs in a MultiInferenceRequest must access the same model name."), ("", "Found ModelSpec with an empty model name.")):
        request = multi_request([regress, classify], [one])
        request.tasks[1].model_spec.name = name
        yield failed(f"MultiInference, a second model {name}", lambda request=request: PREDICTION.MultiInference(request), code.INVALID_ARGUMENT, text)


def grpc_calls():
    for name in BASE_PATHS:
        for version, path in versions(name):
            yield from predict_cases(name, version, path)
            yield from examples_cases(name, version, path)
            yield from multi_inference_cases(name, version, path)
            yield from metadata_cases(name, version, path)
        yield from status_cases(name)
    yield from predict_refusals()
    yield from examples_refusals()
    yield from multi_inference_refusals()
    yield from other_refusals()


write("grpc_calls", grpc_calls())
