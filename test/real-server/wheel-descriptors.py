"""Descriptors of TensorFlow's protocol buffers, out of its wheel's generated Python: arguments: wheel directory, output."""
import ast
import pathlib
import re
import sys

from google.protobuf import any_pb2, descriptor_pb2, duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2

SERIALIZED = re.compile(r"AddSerializedFile\((b(?:'.*'|\".*\"))\)\s*$", re.M)

files = {}
for module in (any_pb2, duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2):
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    files[file.name] = file
for path in pathlib.Path(sys.argv[1]).rglob("*_pb2.py"):
    found = SERIALIZED.search(path.read_text("latin1"))
    if found:
        file = descriptor_pb2.FileDescriptorProto.FromString(ast.literal_eval(found.group(1)))
        files[file.name] = file

result = descriptor_pb2.FileDescriptorSet()
done = set()


def add(name):
    if name in done or name not in files:
        return
    done.add(name)
    for dependency in files[name].dependency:
        add(dependency)
    result.file.append(files[name])


for name in files:
    add(name)
pathlib.Path(sys.argv[2]).write_bytes(result.SerializeToString())
