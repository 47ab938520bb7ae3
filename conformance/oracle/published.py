"""
The cases of TensorFlow Serving's published tests of its REST API (util/json_tensor_test.cc,
model_servers/http_rest_api_handler_test.cc), as data: inputs of the signature, body, and what becomes of it.
Bodies and names are ours; every case tests what the case of theirs tests.
"""

INF, NAN = float("inf"), float("nan")
LARGEST, SMALLEST = 1.7976931348623157e308, 2.2250738585072014e-308

I, S, F, D = "int32", "string", "float32", "float64"


def read(inputs, body, form, **tensors):
    """tensors: name -> (shape, values)"""
    return {"inputs": inputs, "body": body, "form": form, "tensors": tensors}


def refused(inputs, body, text):
    return {"inputs": inputs, "body": body, "text": text}


SIX = ([3, 2], [1, 2, 3, 4, 5, 6])
MIXED = {"i": I, "s": S, "f": F, "d": D}
PAIR = {"i": I, "s": S}

PREDICT = [
    # SingleUnnamedTensor, SingleUnnamedTensorWithSignature, TensorFromNonNullTerminatedBuffer
    read({"x": I}, '{"instances": [[1, 2], [3, 4], [5, 6]]}', "row", x=SIX),
    read({"x": I}, '{"signature_name": "images", "instances": [[1, 2]]}', "row", x=([1, 2], [1, 2])),
    read({"x": I}, '{"instances": [[1, 2], [3, 4], [5, 6]]}X', "row", x=SIX),
    # DeeplyNestedMalformed, less deep: the depth itself is among what differs on purpose
    refused({"x": I}, '{"signature_name":' + "[" * 100 + "]" * 100 + "}", "key must be a string value"),
    read({"x": I}, '{"instances": [1], "nested": ' + "[" * 100 + "]" * 100 + "}", "row", x=([1], [1])),
    # MixedInputForFloatTensor, MixedInputForDoubleTensor, FloatTensorWithPrecisionLoss
    read({"x": F}, '{"instances": [1, 2.0, 3, 4, 5.003, 0.007, 0.0]}', "row", x=([7], [1, 2, 3, 4, 5.003, 0.007, 0])),
    read({"x": D}, '{"instances": [1.0, 2, 3, 4, 0.662, 0, 0.0]}', "row", x=([7], [1, 2, 3, 4, 0.662, 0, 0])),
    read({"x": F}, '{"instances": [1435774380]}', "row", x=([1], [1435774380])),
    read({"x": F}, '{"instances": [1435774380.0]}', "row", x=([1], [1435774380])),
    # FloatTensorThatExceedsMaxReturnsInf, FloatTensorThatExceedsMinReturnsZero
    *(read({"x": F}, '{"instances": [%r]}' % value, "row", x=([1], [became])) for value, became in ((LARGEST, INF), (-LARGEST, -INF), (SMALLEST, 0.0), (-SMALLEST, -0.0))),
    # SingleUnnamedTensorBase64Scalars, SingleUnnamedTensorBase64, SingleNamedTensorBase64
    read({"x": S}, '{"instances": [{"b64": "aGVsbG8="}, {"b64": "d29ybGQ="}]}', "row", x=([2], [b"hello", b"world"])),
    read({"x": S}, '{"instances": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}', "row", x=([2, 1], [b"hello", b"world"])),
    read({"x": S}, '{"instances": [{"x": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}]}', "row", x=([1, 2, 1], [b"hello", b"world"])),
    # MultipleNamedTensor
    read(
        MIXED,
        '{"instances": [{"i": [[1, 2], [3, 4]], "s": ["a", "b"], "f": [1.0, NaN], "d": [NaN]},'
        ' {"i": [[5, 6], [7, 8]], "s": ["c", "d"], "f": [2.0, Infinity], "d": [2.0]}]}',
        "row",
        i=([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
        s=([2, 2], [b"a", b"b", b"c", b"d"]),
        f=([2, 2], [1.0, NAN, 2.0, INF]),
        d=([2, 1], [NAN, 2.0]),
    ),
    # SingleUnnamedTensorColumnarFormat, MultipleNamedTensorColumnarFormat
    read({"x": I}, '{"inputs": {"x": [[[1, 2], [3, 4], [5, 6]]]}}', "columnar", x=([1, 3, 2], SIX[1])),
    read({"x": I}, '{"inputs": [[[1, 2], [3, 4], [5, 6]]]}', "columnar", x=([1, 3, 2], SIX[1])),
    read({**PAIR, "b": S}, '{"inputs": {"i": [[1, 2]], "s": ["a", "b"], "b": {"b64": "aGVsbG8="}}}', "columnar", i=([1, 2], [1, 2]), s=([2], [b"a", b"b"]), b=([], [b"hello"])),
    # SingleUnnamedTensorErrors
    refused({"x": I}, "", "document is empty"),
    refused({"x": I}, '{"signature_name": 5, "instances": [[1, 2], [3, 4], [5, 6, 7]]}', "must be a string value"),
    refused({"x": I}, '{"instances": [[1, 2]], "inputs": [[1, 2]]}', "Not formatted correctly"),
    refused({"x": I}, '{"instances": [[1, 2], [3, 4], [5, 6, 7]]}', "Expecting tensor size"),
    refused({"x": I}, '{"instances": [[1, 2], [3, 4], [[5, 6]]]}', "Expecting shape"),
    refused({"x": I}, '{"instances": [1, [1]]}', "Expecting shape"),
    refused({"x": I}, '{"instances": [[1, 2], ["a", "b"]]}', "not of expected type"),
    # MultipleNamedTensorErrors
    refused(PAIR, '{"instances": [{"i": [[1, 2]], "s": ["a"]}, {"i": [[[1, 2]]], "s": ["b"]}]}', "Expecting shape"),
    refused(PAIR, '{"instances": [{"i": [[1, 2], [3, 4]], "s": ["a"]}, {"i": [[1, 2]], "s": ["b"]}]}', "Expecting tensor size"),
    refused(PAIR, '{"instances": [{"i": [[1, 2]], "s": ["a"]}, [1, 20, 30]]}', "Expecting object but got list"),
    refused({"s": S}, '{"instances": [["a", "b"], {"s": ["a", "b"]}]}', "Expecting value/list but got object"),
    # HttpRestApiHandlerTest.PredictRequestErrors
    refused({"x": F}, "instances = [1, 2]", "JSON Parse error: Invalid value"),
    refused({"x": F}, '{"instances": ["x", "y"]}', "not of expected type: float"),
    refused({"x": F}, '{"signature_name": 100}', "'signature_name' key must be a string value."),
    # ReadMe of the API: either key is asked for, lists only
    refused({"x": F}, '{"instances": []}', "No values in 'instances' array"),
    refused({"x": F}, '{"instances": {"x": 1}}', "to be an list/array"),
    refused({"x": F}, "[1, 2]", "Is not object"),
    refused({"x": F}, "{}", "Missing 'inputs' or 'instances' key"),
]

NAMES = ("bytes", [b"foo", b"bar"])

# ClassifyRegressRequestTest: RequestNoContext, RequestWithContextAndSignature
EXAMPLES = [
    {
        "body": '{"examples": [{"names": ["foo", "bar"], "ratings": [8.0, 9.0], "age": 20}, {"names": ["baz"], "ratings": 6.0}]}',
        "context": None,
        "examples": [{"names": NAMES, "ratings": ("float", [8, 9]), "age": ("int64", [20])}, {"names": ("bytes", [b"baz"]), "ratings": ("float", [6])}],
    },
    {
        "body": '{"signature_name": "own", "context": {"query": "pizza", "place": ["sfo"]}, "examples": ['
        '{"names": ["foo", "bar"], "ratings": [8.0, 9.0, NaN, Infinity], "age": 20},'
        '{"names": ["baz", {"b64": "aGVsbG8="}], "mix": [1, true, false]}, {"names": "bar", "ratings": -Infinity}]}',
        "context": {"query": ("bytes", [b"pizza"]), "place": ("bytes", [b"sfo"])},
        "examples": [
            {"names": NAMES, "ratings": ("float", [8, 9, NAN, INF]), "age": ("int64", [20])},
            {"names": ("bytes", [b"baz", b"hello"]), "mix": ("int64", [1, 1, 0])},
            {"names": ("bytes", [b"bar"]), "ratings": ("float", [-INF])},
        ],
    },
    # JsonErrors
    {"body": '{"signature_name": ["a"], "examples": [{"names": ["foo"]}]}', "text": "'signature_name' key must be a string"},
    {"body": '{"context": [{"names": ["foo"]}]}', "text": "Example must be JSON object"},
    {"body": '{"examples": {"names": ["foo"]}}', "text": "list/array"},
    {"body": '{"examples": [[{"names": ["foo"]}]]}', "text": "Example must be JSON object"},
    {"body": '{"examples": [{"names": [10, null]}]}', "text": "names has element with unexpected JSON type: Null"},
    {"body": '{"examples": [{"names": [10, 10.0]}]}', "text": "feature: names expecting type: int64"},
    {"body": '{"examples": [{"names": [10, {"test": 10}]}]}', "text": "names has element with unexpected JSON type: Object"},
    {"body": '{"examples": [{"names": [[10], 20]}]}', "text": "names has element with unexpected JSON type: Array"},
    {"body": '{"examples": [{"names": [20, 18446744073709551603]}]}', "text": "Only int64_t is supported"},
    {"body": '{"examples": []}', "text": "is an empty array"},
    {"body": "{}", "text": "was not found"},
]

# FromJson...: outputs name -> (dtype, shape, values), the rows and the columns that they become, or a part of the message
BYTES = [b"hello", b"world", b"tf", b"serving"]
IN_BASE64 = [[{"b64": "aGVsbG8="}, {"b64": "d29ybGQ="}], [{"b64": "dGY="}, {"b64": "c2VydmluZw=="}]]
CUBE = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 0], [1, 2]]]
FLAT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]
ANSWERS = [
    {"outputs": {"y": (I, [2, 3, 2], FLAT)}, "rows": CUBE, "columns": CUBE},
    {"outputs": {"y": (I, [5], [1, 2, 3, 4, 5])}, "rows": [1, 2, 3, 4, 5], "columns": [1, 2, 3, 4, 5]},
    {"outputs": {"y_bytes": (S, [2, 2], BYTES)}, "rows": IN_BASE64, "columns": IN_BASE64},
    {
        "outputs": {"y": (F, [2, 3], [9000000, 999999, 0.5, 0.0003, 0.00003, 555557.5])},
        "rows": [[9e06, 999999.0, 0.5], [0.0003, 3e-05, 555557.5]],
        "columns": [[9e06, 999999.0, 0.5], [0.0003, 3e-05, 555557.5]],
    },
    {"outputs": {"y": (F, [2, 2], [NAN, INF, 3, -INF])}, "rows": [[NAN, INF], [3.0, -INF]], "columns": [[NAN, INF], [3.0, -INF]]},
    {"outputs": {"y": (I, [0, 2], [])}, "rows": [], "columns": []},
    {"outputs": {"s": (S, [0, 1, 2], []), "f": (F, [0, 3, 4], [])}, "rows": [], "columns": {"s": [], "f": []}},
    {
        "outputs": {"d": (D, [2], [8, 9]), "f": (F, [2, 1], [1, 2]), "i": (I, [2, 3, 2], FLAT), "s": (S, [2, 2], [b"a", b"b", b"c", b"d"]), "s_bytes": (S, [2, 2], BYTES)},
        "rows": [
            {"d": 8.0, "f": [1.0], "i": CUBE[0], "s": ["a", "b"], "s_bytes": IN_BASE64[0]},
            {"d": 9.0, "f": [2.0], "i": CUBE[1], "s": ["c", "d"], "s_bytes": IN_BASE64[1]},
        ],
        "columns": {"d": [8.0, 9.0], "f": [[1.0], [2.0]], "i": CUBE, "s": [["a", "b"], ["c", "d"]], "s_bytes": IN_BASE64},
    },
    {"outputs": {}, "text": "empty tensor map"},
    {"outputs": {"y": (I, [], [1])}, "text": "no shape information", "columns": 1},
    {"outputs": {"i": (I, [2, 3], [1, 2, 3, 4, 5, 6]), "s": (S, [1, 3], [b"a", b"b", b"c"])}, "text": "inconsistent batch size", "columns": {"i": [[1, 2, 3], [4, 5, 6]], "s": [["a", "b", "c"]]}},
    {"outputs": {"i": (I, [0, 2], []), "s": (S, [1, 2], [b"a", b"b"])}, "text": "inconsistent batch size", "columns": {"i": [], "s": [["a", "b"]]}},
    {"outputs": {"y": ("float16", [1], [1])}, "text": "tensor type: half"},
]
