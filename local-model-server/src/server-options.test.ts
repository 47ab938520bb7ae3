import { RewriterConfig_Toggle } from '@sagemaker-tfs/tensors/protos';
import { temporaryFile } from '../test/temporary.ts';
import { type Flags, parseFlags } from './flags.ts';
import { readServerOptions } from './server-options.ts';

async function servables(...args: string[]) {
  const parsed = parseFlags(['--model_base_path=/models/m', ...args], 'tensorflow_model_server');
  return (await readServerOptions((parsed as { flags: Flags }).flags)).servables;
}

test('--mixed_precision is bfloat16, or left alone with a warning', async () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect((await servables('--mixed_precision=bfloat16')).mixedPrecision).toBe('bfloat16');
  expect(await servables()).not.toHaveProperty('mixedPrecision');
  expect(await servables('--mixed_precision=float16')).not.toHaveProperty('mixedPrecision');
  expect(written.mock.calls.join('')).toContain('float16 mixed precision is not supported');
  written.mockRestore();
});

test('--tensorflow_session_config_file is a ConfigProto under the other flags', async () => {
  const file = await temporaryFile(
    'session.cfg',
    'inter_op_parallelism_threads: 3 graph_options { rewrite_options { auto_mixed_precision: ON } }',
  );
  const options = await servables(
    `--tensorflow_session_config_file=${file}`,
    '--tensorflow_intra_op_parallelism=2',
  );
  expect(options).toMatchObject({
    intraOpThreads: 2,
    base: {
      interOpParallelismThreads: 3,
      graphOptions: { rewriteOptions: { autoMixedPrecision: RewriterConfig_Toggle.ON } },
    },
  });
});

test('a session config that is none stops the start', async () => {
  const file = await temporaryFile('session.cfg', 'threads: 3');
  await expect(servables(`--tensorflow_session_config_file=${file}`)).rejects.toThrow(
    `Invalid protobuf file: '${file}'`,
  );
});

test('--ssl_config_file ends the server: calls would go in the clear', async () => {
  await expect(servables('--ssl_config_file=ssl.config')).rejects.toThrow(/without TLS/);
});
