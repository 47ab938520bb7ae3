#!/usr/bin/env bash
# Builds tensorflow_model_server 2.20.0 of TensorFlow Serving's own C++, without Bazel and in minutes: against the
# libraries and headers in TensorFlow's wheel, and gRPC, libevent and RapidJSON of Debian 12 (gcc 12, curl, unzip, pip
# and Maven on PATH).
#
#   test/real-server/build-server.sh SERVING TENSORFLOW OUT
#
# SERVING     a checkout of github.com/tensorflow/serving at tag 2.20.0; it is not changed
# TENSORFLOW  a checkout of github.com/tensorflow/tensorflow at tag v2.20.0; three headers that the wheel lacks
# OUT         gets bin/tensorflow_model_server, and keeps what was compiled
#
# Not in it: TFLite, the profiler, BatchOpRewriter and TFRT's settings of a model. gRPC is Debian's 1.51, not 1.6x.
set -euo pipefail
serving=$(realpath "$1") tensorflow=$(realpath "$2") out=$3
here=$(realpath "$(dirname "$0")")
mkdir -p "$out"/{wheel,debs,sysroot,src,gen,shim,include,obj,bin}
cd "$out"
lib=sysroot/usr/lib/x86_64-linux-gnu
tf=wheel/tensorflow

[ -e $tf/include ] || {
  pip download -q --no-deps --only-binary=:all: --python-version 3.11 --platform manylinux_2_17_x86_64 \
    -d wheel tensorflow-cpu==2.20.0
  unzip -q wheel/*.whl 'tensorflow/include/*' 'tensorflow/libtensorflow*' 'tensorflow/*_pb2.py' -d wheel
}
[ -e sysroot/usr ] || {
  (cd debs && apt-get download libgrpc++-dev libgrpc-dev libabsl-dev libabsl20220623 protobuf-compiler-grpc \
    libprotoc32 libprotobuf32 libevent-dev rapidjson-dev libre2-dev libc-ares-dev libcurl4-openssl-dev)
  for deb in debs/*.deb; do dpkg -x "$deb" sysroot; done
}
# The wheel's protobuf is 5.28.3, whose protoc is 28.3.
[ -e protoc ] || {
  mvn -q dependency:copy -Dartifact=com.google.protobuf:protoc:4.28.3:exe:linux-x86_64 -DoutputDirectory="$PWD"
  mv protoc-4.28.3-linux-x86_64.exe protoc && chmod +x protoc
}

# Headers of Debian's libraries without Debian's protobuf and Abseil: those are the wheel's.
for part in grpc grpcpp event2 rapidjson re2 evhttp.h event.h evutil.h x86_64-linux-gnu/curl x86_64-linux-gnu/event2; do
  [ -e sysroot/usr/include/$part ] && cp -r sysroot/usr/include/$part include/
done
mkdir -p include/libevent && ln -sfn .. include/libevent/include
sed -i 's/GRPC_CUSTOM_UTIL_STATUS ::google::protobuf::util::Status/GRPC_CUSTOM_UTIL_STATUS ::absl::Status/' \
  include/grpcpp/impl/codegen/config_protobuf.h
for header in cc/saved_model/tag_constants.h cc/saved_model/signature_constants.h \
  core/kernels/batching_util/basic_batch_scheduler.h; do
  install -D "$tensorflow/tensorflow/$header" "shim/tensorflow/$header"
done

cp -r "$serving/tensorflow_serving" src/
python3 "$here/patch-sources.py" src/tensorflow_serving
python3 -m venv venv && venv/bin/pip install -q protobuf
venv/bin/python "$here/wheel-descriptors.py" wheel tensorflow.desc

cd src
protos=$(ls tensorflow_serving/{apis,config,resources}/*.proto tensorflow_serving/apis/internal/serialized_input.proto \
  tensorflow_serving/session_bundle/oss/manifest.proto \
  tensorflow_serving/servables/tensorflow/{remote_op_config_rewriter,saved_model_bundle_source_adapter,saved_model_config,session_bundle_config,thread_pool_factory_config}.proto)
# shellcheck disable=SC2086
../protoc --descriptor_set_in=../tensorflow.desc -I. --cpp_out=../gen $protos
LD_LIBRARY_PATH=../$lib ../protoc --descriptor_set_in=../tensorflow.desc -I. --grpc_out=../gen \
  --plugin=protoc-gen-grpc=../sysroot/usr/bin/grpc_cpp_plugin \
  tensorflow_serving/apis/{model_service,prediction_service}.proto
cd ..

# One log operator that the wheel does not export.
cat >gen/log_message.cc <<'CC'
#include "absl/log/internal/log_message.h"
namespace absl { ABSL_NAMESPACE_BEGIN namespace log_internal {
template LogMessage& LogMessage::operator<<(const long& v);
} ABSL_NAMESPACE_END }
CC
flags="-std=c++17 -O1 -w -fPIC -DNDEBUG -DTF_MODELSERVER_VERSION_NO_META -DEIGEN_AVOID_STL_ARRAY -DEIGEN_USE_THREADS
  -DEIGEN_MAX_ALIGN_BYTES=64 -Isrc -Igen -Ishim -I$tf/include -I$tf/include/third_party
  -I$tf/include/external/ml_dtypes_py -Iinclude"
export flags
compile() {
  object=obj/$(tr / _ <<<"$1").o
  # shellcheck disable=SC2086
  [ -s "$object" ] || g++ $flags -c "$1" -o "$object.part" && { [ -s "$object" ] || mv "$object.part" "$object"; }
}
export -f compile
{ find gen -name '*.cc'; python3 "$here/sources-of.py" src; } | xargs -P "$(nproc)" -I{} bash -c 'compile {}'

cp -n $tf/libtensorflow_*.so.2 bin/
# shellcheck disable=SC2046
g++ -o bin/tensorflow_model_server obj/*.o -Wl,--exclude-libs,ALL -Wl,--start-group \
  $lib/libgrpc++.a $lib/libgrpc.a $lib/libgpr.a $lib/libaddress_sorting.a $lib/libupb.a $lib/libre2.a \
  $(ls $lib/libabsl_*.a) $lib/libevent.a $lib/libevent_pthreads.a $lib/libcares.a -Wl,--end-group \
  bin/libtensorflow_cc.so.2 bin/libtensorflow_framework.so.2 -Wl,-rpath,'$ORIGIN' \
  -l:libcurl.so.4 -lssl -lcrypto -lz -lpthread -ldl -lrt -lm
bin/tensorflow_model_server --version
