import { readFileSync } from 'node:fs';
import { create, fromBinary } from '@bufbuild/protobuf';
import { isNumeric, type TensorMap } from '@sagemaker-tfs/tensors';
import {
  ConfigProtoSchema,
  OptimizerOptions_GlobalJitLevel,
  RewriterConfig_Toggle,
} from '@sagemaker-tfs/tensors/protos';
import { fixtureModel, loadGoldens } from '../../test/fixtures/index.ts';
import { SavedModelSession } from './index.ts';
import { configProtoBytes, type SessionConfig } from './session-config.ts';

const decoded = (config: SessionConfig) => fromBinary(ConfigProtoSchema, configProtoBytes(config));

describe('the ConfigProto', () => {
  test('is empty without options', () => {
    expect(configProtoBytes({})).toHaveLength(0);
  });

  test('has bfloat16 as an option of oneDNN, float16 as that of GPUs', () => {
    expect(decoded({ mixedPrecision: 'bfloat16' }).graphOptions?.rewriteOptions).toMatchObject({
      autoMixedPrecisionOnednnBfloat16: RewriterConfig_Toggle.ON,
      autoMixedPrecision: RewriterConfig_Toggle.DEFAULT,
      autoMixedPrecisionCpu: RewriterConfig_Toggle.DEFAULT,
    });
    expect(decoded({ mixedPrecision: 'float16' }).graphOptions?.rewriteOptions).toMatchObject({
      autoMixedPrecisionOnednnBfloat16: RewriterConfig_Toggle.DEFAULT,
      autoMixedPrecision: RewriterConfig_Toggle.ON,
      autoMixedPrecisionCpu: RewriterConfig_Toggle.DEFAULT,
    });
    // Field numbers of config.proto and rewriter_config.proto: 10, 10, 31 and 10, 10, 23.
    expect(hex({ mixedPrecision: 'bfloat16' })).toBe('5205' + '5203' + 'f80101');
    expect(hex({ mixedPrecision: 'float16' })).toBe('5205' + '5203' + 'b80101');
  });

  test("has a GPU's memory taken in part, or as it is needed", () => {
    expect(decoded({ gpuMemoryFraction: 0.5, gpuAllowGrowth: true }).gpuOptions).toMatchObject({
      perProcessGpuMemoryFraction: 0.5,
      allowGrowth: true,
    });
  });

  test('has XLA on processors too', () => {
    expect(decoded({ jit: true }).graphOptions?.optimizerOptions).toMatchObject({
      globalJitLevel: OptimizerOptions_GlobalJitLevel.ON_1,
      cpuGlobalJit: true,
    });
  });

  test('lays options over a given one, which it leaves as it is', () => {
    const base = create(ConfigProtoSchema, {
      intraOpParallelismThreads: 3,
      interOpParallelismThreads: 3,
      graphOptions: { rewriteOptions: { constantFolding: RewriterConfig_Toggle.OFF } },
    });
    const proto = decoded({ base, intraOpThreads: 2, mixedPrecision: 'bfloat16' });
    expect(proto).toMatchObject({ intraOpParallelismThreads: 2, interOpParallelismThreads: 3 });
    expect(proto.graphOptions?.rewriteOptions).toMatchObject({
      constantFolding: RewriterConfig_Toggle.OFF,
      autoMixedPrecisionOnednnBfloat16: RewriterConfig_Toggle.ON,
    });
    expect(base.intraOpParallelismThreads).toBe(3);
  });
});

function hex(config: SessionConfig): string {
  return Buffer.from(configProtoBytes(config)).toString('hex');
}

describe('what TensorFlow makes of it', () => {
  const fixture = fixtureModel('digits');
  const [golden] = loadGoldens(fixture);

  /** Every output of the first golden case, as numbers. */
  async function answer(config: SessionConfig): Promise<number[]> {
    const session = await SavedModelSession.load(fixture.directory, config);
    const inputs = golden?.cases[0]?.inputs as TensorMap;
    const { outputs } = await session.run(golden?.signature as string, inputs);
    const numbers = Object.values(outputs).flatMap((tensor) =>
      isNumeric(tensor) && tensor.dtype === 'float32' ? [...floats(tensor.bytes)] : [],
    );
    await session.close();
    return numbers;
  }

  const floats = (bytes: Uint8Array) => new Float32Array(Uint8Array.from(bytes).buffer);
  const inBfloat16 = (numbers: number[]) =>
    new Uint32Array(Float32Array.from(numbers).buffer).every((bits) => (bits & 0xffff) === 0);

  // TensorFlow turns oneDNN on by itself for these (tsl/platform/port.cc, DefaultOneDnnPolicy).
  const canBfloat16 =
    process.arch === 'x64' && readFileSync('/proc/cpuinfo', 'latin1').includes('avx512_vnni');
  const onBfloat16 = canBfloat16 ? test : test.skip;

  onBfloat16(
    'bfloat16 computes in bfloat16 (skipped: a processor without AVX512_VNNI)',
    async () => {
      const [exact, rounded] = [await answer({}), await answer({ mixedPrecision: 'bfloat16' })];
      expect(inBfloat16(exact)).toBe(false);
      expect(rounded).not.toEqual(exact);
      for (const [index, number] of exact.entries()) {
        expect(Math.abs((rounded[index] as number) - number)).toBeLessThan(0.05);
      }
    },
  );

  test('float16 leaves a graph on processors as it is', async () => {
    expect(await answer({ mixedPrecision: 'float16' })).toEqual(await answer({}));
  });
});
