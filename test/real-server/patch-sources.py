"""Takes out of TensorFlow Serving's sources what TensorFlow's wheel has no libraries for: argument: tensorflow_serving/."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])


def change(path, *edits):
    file = ROOT / path
    text = file.read_text()
    for pattern, replacement in edits:
        text, count = re.subn(pattern, replacement, text, flags=re.S)
        if count == 0:
            raise SystemExit(f"{file} has no {pattern}")
    file.write_text(text)


# The profiler's gRPC service is of another gRPC.
change(
    "model_servers/server.cc",
    (r'#include "tensorflow/core/profiler/rpc/profiler_service_impl.h"\n', ""),
    (r"  if \(server_options\.enable_profiler\) \{.*?\n  \}\n", ""),
)
change(
    "model_servers/server.h",
    (r'#include "tensorflow/core/profiler/rpc/profiler_service_impl.h"\n', ""),
    (r"[^\n]*profiler_service_;\n", ""),
)
# TFLite.
change(
    "servables/tensorflow/saved_model_bundle_factory.cc",
    (r'#include "tensorflow_serving/servables/tensorflow/tflite_session.h"\n', ""),
    (
        r"(absl::Status LoadTfLiteModel\([^)]*\) \{\n).*?\n\}\n",
        r'\1  return absl::UnimplementedError("no TFLite in this build");\n}\n',
    ),
)
# Optional settings of a model, of which the wheel has no messages.
change(
    "servables/tensorflow/saved_model_config.proto",
    (r"[^\n]*(batch_op_rewriter|BatchOpRewrite)[^\n]*\n", ""),
    (r"[^\n]*(graph_executor/config\.proto|tfrt_runtime_config)[^\n]*\n", ""),
)
change(
    "servables/tensorflow/saved_model_config_util.cc",
    (r'#include "[^"]*batch_op_rewriter.pb.h"\n', ""),
    (r"  // Grappler options for BatchOpRewriter\.\n  if .*?\n  \}\n", ""),
)
