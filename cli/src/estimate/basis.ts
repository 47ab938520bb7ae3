/** What an estimate rests on: each figure with where it is from. */
import type { Costs, Estimate } from './estimate.ts';
import { PACKING_TYPE, type Workload } from './workload.ts';

/** An estimate with the costs after what may turn out otherwise, by name. */
export type PricedWay = Estimate & { readonly sensitivity: Readonly<Record<string, number>> };

/** `2 x ml.p3.2xlarge`. */
export function instancesOf({
  instanceCount,
  instanceType,
}: Pick<Estimate, 'instanceCount' | 'instanceType'>): string {
  return `${instanceCount} x ${instanceType}`;
}

/** A figure that an estimate rests on. */
interface Basis {
  readonly what: string;
  /** `measured` by a run, `given` on the command line, else `assumed`. */
  readonly from: 'measured' | 'given' | 'assumed';
}

/** The figures as a sentence says them, with the option that changes each. */
const FIGURES: readonly [option: string, what: (work: Workload) => string][] = [
  ['secondsPerImage', ({ secondsPerImage }) => `${number(secondsPerImage)} s an image`],
  ['inputSize', ({ inputBytes }) => `${number(inputBytes)} bytes an image`],
  ['outputSize', ({ outputBytes }) => `${number(outputBytes)} bytes an answer`],
  ['imagesPerObject', ({ imagesPerObject }) => `${number(imagesPerObject)} images a packed file`],
  [
    'packedPerSecond',
    ({ packedPerSecond }) =>
      `${number(packedPerSecond)} images a second packed by one ${PACKING_TYPE}`,
  ],
  ['startMinutes', ({ startMinutes }) => `${number(startMinutes)} minutes to start`],
  [
    'endpointUse',
    ({ endpointUse }) => `an endpoint is busy ${number(endpointUse * 100)}% of its time`,
  ],
  ['failed', ({ failed }) => `${number(failed * 100)}% fail and are asked about again`],
  [
    'months',
    ({ months }) =>
      `S3 keeps the answers for ${months === 1 ? 'a month' : `${number(months)} months`}`,
  ],
  ['kms', ({ kms }) => `KMS: ${kms}`],
  [
    'logBytes',
    ({ logBytes }) =>
      logBytes === 0 ? 'no log of requests' : `${number(logBytes)} bytes of log a request`,
  ],
  ['nat', ({ nat }) => (nat ? 'S3 through NAT' : 'no NAT')],
];

const number = (value: number) => value.toLocaleString('en-US', { maximumSignificantDigits: 6 });

/**
 * @param isMeasured whether the time of an image comes from a run
 * @param isGiven whether an option is on the command line
 */
export function basesOf(
  work: Workload,
  isMeasured: boolean,
  isGiven: (option: string) => boolean,
): Basis[] {
  const originOf = (option: string): Basis['from'] => {
    if (option === 'secondsPerImage' && isMeasured) return 'measured';
    return isGiven(option) ? 'given' : 'assumed';
  };
  return FIGURES.map(([option, what]) => ({ what: what(work), from: originOf(option) }));
}

/** A line for each origin that some figure has. */
export function describeBases(bases: readonly Basis[]): string[] {
  return (['measured', 'given', 'assumed'] as const).flatMap((origin) => {
    const some = bases.filter(({ from }) => from === origin).map(({ what }) => what);
    const name = origin.charAt(0).toUpperCase() + origin.slice(1);
    return some.length === 0 ? [] : [`${name}: ${some.join(', ')}.`];
  });
}

/** Heads of {@link costColumns}. */
export const COST_HEADS = ['instances', 'S3', 'data', 'again'] as const;

/** The costs as a table has room for them: what runs, calls to S3 and KMS, what is moved, kept and logged, what is repeated. */
export function costColumns({
  instances,
  packing,
  requests,
  fetch,
  keys,
  logs,
  data,
  storage,
  again,
}: Costs): [number, number, number, number] {
  return [instances + packing, requests + fetch + keys, data + storage + logs, again];
}
