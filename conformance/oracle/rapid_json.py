"""
JSON as RapidJSON 1.1.0 reads it with the flags of TensorFlow Serving (kParseNanAndInfFlag, kParseStopWhenDoneFlag),
written from its rules. Text is str, an integer of at most 64 bits is int, any other number is float, an object is Members.
"""

import json
import re


class Refused(Exception):
    """What the document is refused with: parts of the message in order; what lies between them is not compared."""

    def __init__(self, *parts):
        super().__init__(" ... ".join(parts))
        self.parts = parts


class Members(list):
    """An object: (name, value) in the document's order."""

    def first(self, name):
        return next((value for key, value in self if key == name), None)

    def has(self, name):
        return any(key == name for key, _ in self)


SPACE = re.compile(r"[ \t\r\n]*")
NUMBER = re.compile(r"-?(?:(?P<whole>0|[1-9]\d*)(?P<fraction>\.\d+)?(?P<exponent>[eE][+-]?\d+)?|(?P<word>NaN|Infinity|Inf(?!i)))")
TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')


def parse(body):
    """The value at the beginning of bytes. @raises Refused"""
    if not body:
        raise Refused("JSON Parse error: The document is empty")
    text = body.decode().removeprefix("\ufeff")
    return value_at(text, SPACE.match(text).end())[0]


def bad():
    return Refused("JSON Parse error: ")


def value_at(text, at):
    start = text[at : at + 1]
    if start == "[":
        return elements(text, at + 1)
    if start == "{":
        return members(text, at + 1)
    if start == '"':
        return text_at(text, at)
    for word, value in (("true", True), ("false", False), ("null", None)):
        if text.startswith(word, at):
            return value, at + len(word)
    found = NUMBER.match(text, at)
    if not found and start.isalpha():
        raise Refused("JSON Parse error: Invalid value")
    # What follows a whole number as if it were more of it.
    if not found or (found["whole"] and not found["fraction"] and text[found.end() : found.end() + 1] in (".",)):
        raise bad()
    if found["whole"] and not found["exponent"] and text[found.end() : found.end() + 1] in ("e", "E"):
        raise bad()
    return number(found), found.end()


def number(found):
    if found["word"]:
        sign = -1 if found[0].startswith("-") else 1
        return float("nan") if found["word"] == "NaN" else sign * float("inf")
    if not found["fraction"] and not found["exponent"] and -(2**63) <= int(found[0]) < 2**64:
        return int(found[0])
    exponent = int((found["exponent"] or "e0")[1:])
    if exponent > 308 + len(found["fraction"] or ".") - 1 or len(found["whole"]) > 309:
        raise Refused("JSON Parse error: Number too big")
    return float(found[0])


def text_at(text, at):
    found = TEXT.match(text, at)
    if not found:
        raise bad()
    value = json.loads(found[0])
    if re.search("[\ud800-\udfff]", value):
        raise bad()
    return value, found.end()


def elements(text, at):
    values = []
    at = SPACE.match(text, at).end()
    if text[at : at + 1] == "]":
        return values, at + 1
    while True:
        value, at = value_at(text, SPACE.match(text, at).end())
        values.append(value)
        at = SPACE.match(text, at).end()
        if text[at : at + 1] == "]":
            return values, at + 1
        if text[at : at + 1] != ",":
            raise bad()
        at += 1


def members(text, at):
    values = Members()
    at = SPACE.match(text, at).end()
    if text[at : at + 1] == "}":
        return values, at + 1
    while True:
        at = SPACE.match(text, at).end()
        if text[at : at + 1] != '"':
            raise bad()
        name, at = text_at(text, at)
        at = SPACE.match(text, at).end()
        if text[at : at + 1] != ":":
            raise bad()
        value, at = value_at(text, SPACE.match(text, at + 1).end())
        values.append((name, value))
        at = SPACE.match(text, at).end()
        if text[at : at + 1] == "}":
            return values, at + 1
        if text[at : at + 1] != ",":
            raise bad()
        at += 1
