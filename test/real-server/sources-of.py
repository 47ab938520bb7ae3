"""Prints every C++ source that `main.cc` of TensorFlow Serving needs, by its includes: argument: source directory."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
INCLUDE = re.compile(r'^#include\s+[<"](tensorflow_serving/[^">]+)[">]', re.M)

todo = [
    "tensorflow_serving/model_servers/main.cc",
    "tensorflow_serving/model_servers/server.cc",
    "tensorflow_serving/session_bundle/oss/session_bundle_util.cc",
]
seen = set()
while todo:
    name = todo.pop()
    if name in seen or "tflite" in name or not (ROOT / name).exists():
        continue
    seen.add(name)
    for header in INCLUDE.findall((ROOT / name).read_text()):
        todo += [header, re.sub(r"\.h$", ".cc", header)]
print("\n".join(f"{ROOT}/{name}" for name in sorted(seen) if name.endswith(".cc")))
