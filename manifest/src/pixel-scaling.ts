/** Scale and offset of pixels, and whether the input's dtype can hold the result. */
import type { NumericDType } from '@sagemaker-tfs/tensors';
import type { Problem } from './errors.ts';
import type { Preprocess } from './image-declaration.ts';
import type { PixelsInput } from './resolved-preprocess.ts';

/** Smallest and largest value of the integer dtypes that a pixel is checked against. */
const INTEGER_RANGE: Partial<Record<NumericDType, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
};

/** value = pixel * scale + offset, for each channel. */
export type Scaling = Pick<PixelsInput, 'scale' | 'offset' | 'normalized'>;

/** Folds mean and std into scale and offset. */
export function resolveScaling(declared: Preprocess, count: number, problems: Problem[]): Scaling {
  const { scale, offset, mean, std } = declared;
  const each = (name: 'scale' | 'offset' | 'mean' | 'std', otherwise: number): number[] => {
    const value = declared[name] ?? otherwise;
    const list = typeof value === 'number' ? [value] : value;
    if (list.length !== 1 && list.length !== count) {
      const message = `${list.length} values for ${count} channel${count === 1 ? '' : 's'}. Give one, or one for each channel.`;
      problems.push({ field: `preprocess.${name}`, message });
    }
    return Array.from(
      { length: count },
      (_, i) => (list.length === 1 ? list[0] : list[i]) ?? otherwise,
    );
  };
  if (mean === undefined && std === undefined) {
    return { scale: each('scale', 1), offset: each('offset', 0) };
  }
  if (scale !== undefined || offset !== undefined) {
    const message = 'give either scale and offset or mean and std, not both.';
    problems.push({ field: `preprocess.${scale === undefined ? 'offset' : 'scale'}`, message });
  }
  const means = each('mean', 0);
  const stds = each('std', 1);
  if (stds.includes(0)) problems.push({ field: 'preprocess.std', message: 'must not be 0.' });
  return {
    scale: stds.map((value) => 1 / (255 * value)),
    offset: stds.map((value, i) => -(means[i] as number) / value),
    normalized: { mean: means, std: stds },
  };
}

/** Pixels of an integer input, rounded as the runtime rounds them, must stay what an integer can tell apart. */
export function checkRange(
  input: string,
  dtype: NumericDType,
  { scale, offset }: Scaling,
  problems: Problem[],
): void {
  const range = INTEGER_RANGE[dtype];
  if (!range) return;
  const ends = scale.flatMap((value, i) => {
    const at = offset[i] as number;
    return [at, 255 * value + at];
  });
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const rounded = [Math.round(low), Math.round(high)] as const;
  const holds = rounded[0] >= range[0] && rounded[1] <= range[1];
  if (holds && high - low > 1) return;
  const problem = holds
    ? `which ${dtype} of input '${input}' holds as ${rounded.join(' or ')} alone`
    : `which input '${input}' of dtype ${dtype} cannot hold`;
  const message = `pixels become ${rounded.join(' to ')}, ${problem}. Remove scale, offset, mean and std, or choose values within ${range[0]} to ${range[1]}.`;
  problems.push({ field: 'preprocess.scale', message });
}
