import { type Flags, parseFlags } from './flags.ts';

function parsed(...args: string[]): Flags {
  const result = parseFlags(args, 'tensorflow_model_server');
  if ('problem' in result) throw new Error(result.problem);
  return result.flags;
}

function problem(...args: string[]): string {
  const result = parseFlags(args, 'tensorflow_model_server');
  if ('flags' in result) throw new Error(`accepted: ${args}`);
  expect(result.usage).toMatch(
    /^usage: tensorflow_model_server\nFlags:\n\t--port=8500 {22}\tint32\t/,
  );
  return result.problem;
}

test('defaults are those of TensorFlow Serving', () => {
  expect(parsed()).toMatchObject({
    port: 8500,
    rest_api_port: 0,
    rest_api_timeout_in_ms: 30_000,
    model_name: 'default',
    model_base_path: '',
    file_system_poll_wait_seconds: 1,
    max_num_load_retries: 5,
    load_retry_interval_micros: 60_000_000,
    saved_model_tags: 'serve',
    enable_model_warmup: true,
    enable_batching: false,
    enable_serialization_as_tensor_content: false,
  });
});

test('values of every type', () => {
  const flags = parsed(
    '--port=18500',
    '--model_name=a=b',
    '--enable_batching',
    '--enable_model_warmup=false',
    '--per_process_gpu_memory_fraction=0.5',
    '--file_system_poll_wait_seconds=-1',
    '--model_base_path=',
  );
  expect(flags).toMatchObject({
    port: 18500,
    model_name: 'a=b',
    enable_batching: true,
    enable_model_warmup: false,
    per_process_gpu_memory_fraction: 0.5,
    file_system_poll_wait_seconds: -1,
    model_base_path: '',
  });
});

test.each([
  'allow_version_labels_for_unavailable_models',
  'enable_grpc_healthcheck_service',
  'enable_per_model_batching_parameters',
  'enable_profiler',
  'enable_signature_method_name_check',
  'flush_filesystem_caches',
  'prefer_tflite_model',
  'remove_unused_fields_from_bundle_metagraph',
  'rest_api_enable_cors_support',
  'skip_initialize_tpu',
  'use_alts_credentials',
  'xla_cpu_compilation_enabled',
  'xla_gpu_compilation_enabled',
])('--%s is known', (name) => {
  expect(parsed(`--${name}`)).toMatchObject({ [name]: true });
});

test.each([
  [['--port=x'], "Couldn't interpret value x for flag port."],
  [['--port=99999999999'], "Couldn't interpret value 99999999999 for flag port."],
  [['--enable_batching=yes'], "Couldn't interpret value yes for flag enable_batching."],
  [
    ['--prt=1', '--port=x', '--port=y'],
    "Couldn't interpret value x for flag port.\nCouldn't interpret value y for flag port.",
  ],
  [['--help'], ''],
  [['--port=1', '--help'], ''],
])('%j prints the usage and ends', (args, message) => {
  expect(problem(...args)).toBe(message);
});

test.each([
  [['--prt=1'], '--prt=1'],
  [['-port=1'], '-port=1'],
  [['--port', '8500'], '--port'],
  [['model', 'other'], 'model'],
  [['--toString=1'], '--toString=1'],
])('of %j the first that is unknown is named, and the rest counts', (args, unknown) => {
  expect(parseFlags([...args, '--model_name=m'], 'x')).toMatchObject({
    unknown,
    flags: { model_name: 'm', port: 8500 },
  });
});
