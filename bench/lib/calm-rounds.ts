/** Rounds of a measurement, more of them where the host of the virtual machine takes the processors away. */
import { processorTicks, stolenSince } from '../../tools/process-stats.ts';

/** Of the processor time that a round wants, what the host may take. */
const CALM = 0.05;
/** A round beyond those asked for; one round stays one. */
const MAX_MORE = 1;

/** @returns the results of `count` rounds: the calmest, whatever they measured */
export async function calmRounds<Result>(
  count: number,
  measure: () => Promise<Result>,
): Promise<Result[]> {
  const rounds: { result: Result; stolen: number }[] = [];
  const most = count > 1 ? count + MAX_MORE : count;
  const calm = () => rounds.filter(({ stolen }) => stolen <= CALM).length;
  while (rounds.length < count || (calm() < count && rounds.length < most)) {
    const before = processorTicks();
    const result = await measure();
    rounds.push({ result, stolen: stolenSince(before) });
  }
  rounds.sort((a, b) => a.stolen - b.stolen);
  return rounds.slice(0, count).map(({ result }) => result);
}
