/** What the benchmarks of large replies share: the front ends, and the reply's bytes alone. */
import { CASES, outputBytes } from '../canned/cases.ts';
import type { BenchContext } from './bench.ts';
import { startOurs, startReal } from './front-ends.ts';
import { median } from './median.ts';
import type { Contender } from './serving.ts';
import { twoSocketHops } from './sockets.ts';

export const OURS = 'ours, gRPC';
export const SOCKETS = 'two bare socket hops';
/** Transfers of the sockets, and those of them that only warm up. */
const ROUNDS = { quick: 8, full: 40, warmUp: 3 };

/** Cases of {@link CASES} whose replies are large. */
type LargeCase = 'B' | 'Y';

/** The runtime before the canned model server. */
export function overGrpc(canned: LargeCase): Contender {
  return [OURS, () => startOurs(canned)];
}

/** The runtime with a graph that has the reply ready. */
export function inProcess(canned: LargeCase): Contender {
  const environment = { SAGEMAKER_TFS_BACKEND: 'in-process' };
  return ['ours, in-process', () => startReal(`ready-${canned}`, environment)];
}

/** @returns bytes of a reply, and the milliseconds that they alone take through two bare socket hops */
export async function bytesAlone(
  context: BenchContext,
  canned: LargeCase,
): Promise<{ bytes: number; sockets: number }> {
  const bytes = outputBytes((CASES[canned] as (typeof CASES)[string])());
  const rounds = context.quick ? ROUNDS.quick : ROUNDS.full;
  const sockets = median((await twoSocketHops(bytes, rounds)).slice(ROUNDS.warmUp));
  context.log(`${SOCKETS}: ${sockets.toFixed(1)} ms`);
  return { bytes, sockets };
}
