"""
What TensorFlow Serving's REST API makes of a request body and of outputs, written from the rules of its
util/json_tensor.cc. Messages hold a dump of the value where the C++ prints one; that dump is not compared.
"""

import base64
import re

import numpy as np
from rapid_json import Members, Refused, parse

NAMES = {"float32": "float", "float64": "double", "float16": "half"}
INTEGERS = {
    **dict.fromkeys(("int8", "int16", "int32", "uint8"), (-(2**31), 2**31)),
    "int64": (-(2**63), 2**63),
    "uint32": (0, 2**32),
    "uint64": (0, 2**64),
}
UNREAD = ("float16", "bfloat16", "uint16")


class Undetermined(Exception):
    """The C++ answers by the order of a hash map, or with a tensor that does not fill its shape."""


def kind(value):
    if value is None:
        return "Null"
    if isinstance(value, bool):
        return str(value)
    for types, name in ((Members, "Object"), (list, "Array"), (str, "String")):
        if isinstance(value, types):
            return name
    return "Number"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_list(value):
    return isinstance(value, list) and not isinstance(value, Members)


def is_base64(value):
    return isinstance(value, Members) and len(value) == 1 and value.has("b64") and isinstance(value.first("b64"), str)


def is_object(value):
    return isinstance(value, Members) and not is_base64(value)


def unescaped(value):
    text = re.sub(r"\s", "", value.first("b64"))
    if not re.fullmatch(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}([=.]{2})?|[A-Za-z0-9+/]{3}[=.]?)?", text):
        raise Refused("Unable to base64 decode")
    digits = text.rstrip("=.")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def wrong_type(value, dtype):
    return Refused("JSON Value: ", f" Type: {kind(value)} is not of expected type: {NAMES.get(dtype, dtype)}")


def element(value, dtype):
    """One value's bytes. @raises Refused"""
    if isinstance(value, Members):
        if dtype != "string":
            raise wrong_type(value, dtype)
        if not is_base64(value):
            raise Refused("JSON Value: ", " not formatted correctly for base64 data")
        return unescaped(value)
    if dtype in UNREAD:
        raise Refused("Conversion of JSON Value: ", f" to type: {NAMES.get(dtype, dtype)}")
    if dtype == "string":
        good = isinstance(value, str)
    elif dtype == "bool":
        good = isinstance(value, bool)
    elif dtype in INTEGERS:
        low, high = INTEGERS[dtype]
        good = is_number(value) and isinstance(value, int) and low <= value < high
    else:
        good = is_number(value)
    if not good:
        raise wrong_type(value, dtype)
    if dtype == "string":
        return value.encode()
    if dtype == "bool":
        return bytes([value])
    if dtype in INTEGERS:
        size = np.dtype(dtype).itemsize
        return (value % 2 ** (8 * size)).to_bytes(size, "little")
    with np.errstate(over="ignore"):
        return np.array(float(value)).astype(dtype).tobytes()


def shape_of(value):
    return [] if not is_list(value) else [len(value), *(shape_of(value[0]) if value else [])]


def fill(value, level, shape, dtype, elements):
    if not is_list(value):
        if level != len(shape):
            raise Refused("JSON Value: ", f" found at incorrect level: {level + 1} in the JSON DOM. Expected at level: {len(shape)}")
        elements.append(element(value, dtype))
        return
    if level >= len(shape):
        raise Refused(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise Refused(f"Encountered list at unexpected size: {len(value)} at level: {level} expected size: {shape[level]}")
    for part in value:
        fill(part, level + 1, shape, dtype, elements)


def tensor_of(value, dtype):
    shape, elements = shape_of(value), []
    fill(value, 0, shape, dtype, elements)
    return {"dtype": dtype, "shape": shape, "elements": elements}


def shown(shape):
    return f"[{','.join(map(str, shape))}]"


def within(prefix, work):
    """The same refusal as a part of another."""
    try:
        return work()
    except Refused as refusal:
        # Which status lies within depends on whether the dtype is read at all.
        code = "UNIMPLEMENTED" if refusal.parts[0].startswith("Conversion") else "INVALID_ARGUMENT"
        raise Refused(f"{prefix} Error: {code}: {refusal.parts[0]}", *refusal.parts[1:]) from None


def predict(body, inputs):
    """(format, name -> tensor) of a body for the inputs (name -> dtype) of the signature. @raises Refused"""
    document = parse(body)
    if not isinstance(document, Members):
        raise Refused("JSON Value: ", " Is not object")
    if document.has("signature_name") and not isinstance(document.first("signature_name"), str):
        raise Refused("JSON Value: ", " not formatted correctly. 'signature_name' key must be a string value.")
    if document.has("instances") and document.has("inputs"):
        raise Refused("JSON Value: ", " Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ")
    if document.has("instances"):
        return "row", rows(document.first("instances"), inputs)
    if document.has("inputs"):
        return "columnar", columns(document.first("inputs"), inputs)
    raise Refused("Missing 'inputs' or 'instances' key")


def rows(instances, inputs):
    if not is_list(instances):
        raise Refused("JSON Value: ", " Expecting 'instances' to be an list/array")
    if not instances:
        raise Refused("JSON Value: ", " No values in 'instances' array")
    if not isinstance(instances[0], Members) and len(inputs) > 1:
        raise Refused("instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map")
    tensors = {}
    named = is_object(instances[0])
    if not named and len(inputs) > 1:
        raise Undetermined
    for count, instance in enumerate(instances):
        if is_object(instance) != named:
            wanted = "object but got list" if named else "value/list but got object"
            raise Refused(f"Expecting {wanted} at item {count} of input list")
        if not named:
            only = next(iter(inputs))
            within(f"Failed to process element: {count} of 'instances' list.", lambda: add(instance, only, inputs, tensors))
            continue
        if len({name for name, _ in instance}) < len(instance):
            raise Undetermined
        for name, value in instance:
            prefix = f"Failed to process element: {count} key: {name} of 'instances' list."
            within(prefix, lambda: add(value, name, inputs, tensors))
        if {name for name, _ in instance} != set(inputs):
            raise Refused(f"Failed to process element: {count} of 'instances' list. JSON object: ", f" keys must be equal to: {','.join(sorted(inputs))}")
    return {name: {**tensor, "shape": [len(instances), *tensor["shape"]]} for name, tensor in tensors.items()}


def add(value, name, inputs, tensors):
    if name not in inputs:
        raise Refused(f"JSON object: does not have named input: {name}")
    tensor = tensor_of(value, inputs[name])
    if name not in tensors:
        tensors[name] = tensor
        return
    before, count = tensors[name]["shape"], int(np.prod(tensors[name]["shape"], dtype=int))
    if len(tensor["elements"]) != count:
        raise Refused(f"Expecting tensor size: {count} but got: {len(tensor['elements'])}")
    if before != tensor["shape"]:
        raise Refused(f"Expecting shape {shown(before)} but got: {shown(tensor['shape'])}")
    tensors[name]["elements"] += tensor["elements"]


def columns(value, inputs):
    if not is_object(value):
        if len(inputs) > 1:
            raise Refused("inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map")
        name = next(iter(inputs))
        return {name: tensor_of(value, inputs[name])}
    tensors = {}
    # In the order of a hash map: of several errors any may come first.
    for name, dtype in inputs.items():
        if not value.has(name):
            raise Refused(f"Missing named input: {name} in 'inputs' object.")
        tensors[name] = tensor_of(value.first(name), dtype)
    return tensors


def examples(body):
    """(context or None, examples) of a body for classify and regress; an example is name -> (kind, values). @raises Refused"""
    document = parse(body)
    if not isinstance(document, Members):
        raise Refused("JSON Value: ", " Is not object")
    if document.has("signature_name") and not isinstance(document.first("signature_name"), str):
        raise Refused("JSON Value: ", " not formatted correctly. 'signature_name' key must be a string value.")
    context = example(document.first("context")) if document.has("context") else None
    if not document.has("examples"):
        raise Refused("JSON Value: ", " When method is classify, key 'examples' is expected and was not found")
    given = document.first("examples")
    if not is_list(given):
        raise Refused("JSON Value: ", " Expecting 'examples' value to be an list/array")
    if not given:
        raise Refused("JSON Value: ", " 'examples' value is an empty array")
    return context, [example(value) for value in given]


def example(value):
    if not isinstance(value, Members):
        raise Refused(f"Example must be JSON object but got JSON {kind(value)}")
    # A feature that is there twice is written over.
    return {name: feature(name, content if is_list(content) else [content]) for name, content in value}


def feature(name, values):
    found, kept = None, []
    for value in values:
        own = feature_kind(name, value)
        if found not in (None, own):
            raise Refused(f"Unexpected element type in feature: {name} expecting type: {found}")
        found = own
        if isinstance(value, int) and not isinstance(value, bool) and value >= 2**63:
            raise Refused(f"Feature: {name} has uint64_t element. Only int64_t is supported.")
        kept.append(feature_value(value))
    return found, kept


def feature_kind(name, value):
    if isinstance(value, str) or is_base64(value):
        return "bytes"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float"
    raise Refused(f"Feature: {name} has element with unexpected JSON type: {kind(value)}")


def feature_value(value):
    if is_base64(value):
        return unescaped(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int):
        return int(value)
    with np.errstate(over="ignore"):
        return np.float32(value)
