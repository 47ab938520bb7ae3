"""Bodies and answers of TensorFlow Serving's REST API: its published cases, generated ones, and single values."""

import json
import math
import random

import numpy as np
import published
import rest_rules
from common import FULL, b64
from rapid_json import Refused

random_ = random.Random(19)
DTYPES = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "bool", "string"]
UNREAD = ["float16", "bfloat16", "uint16"]
LITERALS = "0 1 -1 -0 127 128 255 256 -128 -129 32767 32768 65535 65536 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616 16777217 9007199254740993 1.0 1.5 1e2 1E+2 1e-2 -0.0 -0e0 0.1 3.4028235e38 3.5e38 1e39 1e-50 1e300 1e308 10e308 0e400 1e400 1e-400 NaN Inf -Inf Infinity -Infinity -NaN inf nan Infin +1 .5 1. 1.e5 1e 1e+ 01 00 0x1 - true false null True \"a\" \"\" \"1\" \"é\" \"\\u00e9\" \"\\ud83d\\ude00\" \"\\ud83d\" \"\\x\" \"\\/\" {\"b64\":\"YQ==\"} {\"b64\":\"YQ\"} {\"b64\":\"YQ=\"} {\"b64\":\"YWI\"} {\"b64\":\"-_-_\"} {\"b64\":\"Y\"} {\"b64\":\"\"} {\"b64\":1} {\"b64\":null} {\"b64\":\"YQ==\",\"c\":1} {} [] [[]] [1] [1,] [,] [1,2] {\"a\":1} {\"a\":1,} {\"a\"} {1:2}".split()


def packed(tensor):
    key = "values" if tensor["dtype"] == "string" else "bytes"
    value = [b64(element) for element in tensor["elements"]] if key == "values" else b64(b"".join(tensor["elements"]))
    return {"dtype": tensor["dtype"], "shape": tensor["shape"], key: value}


def predict_case(inputs, body):
    """What the rules make of a body; None where they leave it open."""
    case = {"kind": "predict", "signature": inputs, "body": b64(body)}
    try:
        form, tensors = rest_rules.predict(body, inputs)
    except rest_rules.Undetermined:
        return None
    except Refused as refusal:
        orders = [dict(items) for items in (inputs.items(), reversed(inputs.items()))]
        return {**case, "refusals": [refusal_of(order, body) or refusal.parts for order in orders]}
    return {**case, "form": form, "tensors": {name: packed(tensor) for name, tensor in tensors.items()}}


def refusal_of(inputs, body):
    try:
        rest_rules.predict(body, inputs)
    except Refused as refusal:
        return refusal.parts
    return None


def examples_case(body):
    case = {"kind": "examples", "body": b64(body)}
    try:
        context, examples = rest_rules.examples(body)
    except Refused as refusal:
        return {**case, "refusals": [refusal.parts]}
    features = lambda example: {name: [kind, [feature_text(value) for value in values]] for name, (kind, values) in example.items()}
    return {**case, "context": context and features(context), "examples": [features(example) for example in examples]}


def feature_text(value):
    return b64(value) if isinstance(value, bytes) else str(value) if isinstance(value, int) else b64(np.float32(value).tobytes())


def check(got, expected):
    if got != expected:
        raise SystemExit(f"the oracle does not agree with a published case: {got} is not {expected}")


def published_requests():
    for given in published.PREDICT:
        body = given["body"].encode()
        case = predict_case(given["inputs"], body)
        if "text" in given:
            check([given["text"] in " ".join(parts) for parts in case["refusals"]], [True] * 2)
            yield {**case, "refusals": [[given["text"]]]}
            continue
        tensors = {}
        for name, (shape, values) in given["tensors"].items():
            dtype = given["inputs"][name]
            with np.errstate(over="ignore"):
                elements = values if dtype == "string" else [np.array(value).astype(dtype).tobytes() for value in values]
            tensors[name] = packed({"dtype": dtype, "shape": shape, "elements": elements})
        check((case["form"], case["tensors"]), (given["form"], tensors))
        yield case
    for given in published.EXAMPLES:
        case = examples_case(given["body"].encode())
        if "text" in given:
            check(given["text"] in " ".join(case["refusals"][0]), True)
            yield {**case, "refusals": [[given["text"]]]}
            continue
        features = lambda example: {name: [kind, [feature_text(value if kind != "float" else float(value)) for value in values]] for name, (kind, values) in example.items()}
        check((case["context"], case["examples"]), (given["context"] and features(given["context"]), [features(example) for example in given["examples"]]))
        yield case


def plain(value):
    """JSON without its words for what is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value


def answer_case(given):
    outputs = {}
    for name, (dtype, shape, values) in given["outputs"].items():
        elements = values if dtype == "string" else [np.array(value).astype(dtype).tobytes() for value in values]
        outputs[name] = packed({"dtype": dtype, "shape": shape, "elements": elements})
    for form, key in (("row", "rows"), ("columnar", "columns")):
        case = {"kind": "answer", "form": form, "outputs": outputs}
        if key in given:
            yield {**case, "answer": plain(given[key])}
        else:
            yield {**case, "refusals": [[given["text"]]]}


def rest_published():
    yield from published_requests()
    for given in published.ANSWERS:
        yield from answer_case(given)


# Generated documents: a tree whose leaves are literals, lists are lists, and objects lists of pairs in a tuple.


def leaf(dtype):
    good = {
        "string": ['"a"', '"\\u00e9\\n"', '{"b64": "aGk="}', '""'],
        "bool": ["true", "false"],
        "float32": ["1", "-2.5", "0.1", "1e3", "NaN", "-Infinity", "16777217", "-0"],
        "float64": ["1", "-2.5", "0.1", "1e-3", "NaN", "Inf", "9007199254740993", "-0.0"],
    }
    return random_.choice(good.get(dtype, ["0", "1", "2", "100", "-1" if dtype[0] == "i" else "3"]))


def filled(dtype, shape):
    return leaf(dtype) if not shape else [filled(dtype, shape[1:]) for _ in range(shape[0])]


def members(pairs):
    return tuple(pairs)


def predict_tree(inputs):
    shapes = {name: [random_.choice((0, 1, 1, 2, 3)) for _ in range(random_.choice((0, 0, 1, 2)))] for name in inputs}
    only = next(iter(inputs))
    named = len(inputs) > 1 or random_.random() < 0.4
    if random_.random() < 0.5:
        rows = random_.choice((1, 1, 2, 3))
        row = lambda: members((name, filled(dtype, shapes[name])) for name, dtype in inputs.items())
        content = ("instances", [row() if named else filled(inputs[only], shapes[only]) for _ in range(rows)])
    else:
        content = ("inputs", members((name, filled(dtype, shapes[name])) for name, dtype in inputs.items()) if named else filled(inputs[only], shapes[only]))
    extra = [("signature_name", random_.choice(('"serving_default"', '""', "null", "5")))] if random_.random() < 0.15 else []
    return members([*extra, content])


def examples_tree():
    kinds = {"a": "float64", "b": "int64", "c": "string", "d": "bool"}
    example = lambda: members((name, filled(kinds[name], [random_.choice((0, 1, 2))]) if random_.random() < 0.7 else leaf(kinds[name])) for name in random_.sample("abcd", random_.randrange(5)))
    context = [("context", example())] if random_.random() < 0.3 else []
    return members([*context, ("examples", [example() for _ in range(random_.choice((0, 1, 1, 2, 3)))])])


def places(tree, path=()):
    yield path
    parts = enumerate(tree) if isinstance(tree, list) else enumerate(value for _, value in tree) if isinstance(tree, tuple) else ()
    for index, part in parts:
        yield from places(part, (*path, index))


def changed(tree, path, change):
    if not path:
        return change(tree)
    index, rest = path[0], path[1:]
    if isinstance(tree, list):
        return [changed(part, rest, change) if at == index else part for at, part in enumerate(tree)]
    return tuple((name, changed(part, rest, change) if at == index else part) for at, (name, part) in enumerate(tree))


def other(tree):
    """One change to a part of a document."""
    what = random_.randrange(7)
    if what == 0 and isinstance(tree, (list, tuple)) and tree:
        at = random_.randrange(len(tree))
        return tree[:at] + tree[at + 1 :]
    if what == 1 and isinstance(tree, list):
        return [*tree, *(tree[:1] or ["1"])]
    if what == 2 and isinstance(tree, tuple):
        return (*tree, (random_.choice(("extra", "b64", "signature_name", "instances", "inputs", "x")), "1"))
    if what == 3:
        return [tree]
    if what == 4 and isinstance(tree, list) and len(tree) == 1:
        return tree[0]
    return random_.choice(LITERALS)


def text_of(tree):
    gap = random_.choice(("", "", " ", "\n", "\t \r"))
    if isinstance(tree, list):
        return f"[{gap}{f',{gap}'.join(map(text_of, tree))}]"
    if isinstance(tree, tuple):
        return "{" + f",{gap}".join(f"{json.dumps(name)}{gap}:{gap}{text_of(value)}" for name, value in tree) + gap + "}"
    return tree


def body_of(tree):
    text = text_of(tree)
    end = random_.random()
    if end < 0.03:
        text = text[: random_.randrange(len(text))]
    elif end < 0.06:
        text += random_.choice(("x", "]", "{}", "\x00", ","))
    elif end < 0.08:
        text = random_.choice(("\ufeff", "\ufeff ", " \n")) + text
    return text.encode()


def generated():
    """A document, usually with a change or two, and the signature that it is for."""
    if random_.random() < 0.2:
        inputs, tree = None, examples_tree()
    else:
        names = random_.sample(["x", "y", "a b", "é", "b64"], random_.choice((1, 1, 1, 2, 3)))
        inputs = {name: random_.choice(DTYPES if random_.random() < 0.95 else UNREAD) for name in names}
        tree = predict_tree(inputs)
    for _ in range(random_.choice((0, 1, 1, 2))):
        tree = changed(tree, random_.choice(list(places(tree))), other)
    return inputs, body_of(tree)


def rest_generated():
    made = 0
    while made < (50_000 if FULL else 5_000):
        inputs, body = generated()
        case = examples_case(body) if inputs is None else predict_case(inputs, body)
        if case:
            made += 1
            yield case


def json_values():
    for dtype in [*DTYPES, *UNREAD]:
        for literal in LITERALS:
            for body in ('{"inputs": {"x": %s}}', '{"instances": [%s]}', '{"instances": [{"x": %s}]}'):
                case = predict_case({"x": dtype}, (body % literal).encode())
                if case:
                    yield case
