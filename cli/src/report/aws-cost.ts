/** 'This run on AWS': what the measured speed would cost there, and what that takes for granted. */

import type { Machine } from '../bench/run-facts.ts';
import { COST_HEADS, costColumns } from '../estimate/basis.ts';
import { type Estimate, estimate } from '../estimate/estimate.ts';
import { instanceHour, type Prices, readPrices } from '../estimate/prices.ts';
import { LOG_BYTES, type Workload } from '../estimate/workload.ts';
import { commandName } from '../output/command-name.ts';
import { usd } from '../output/usd.ts';
import { type Html, html, tableHtml } from './html.ts';
import type { Section } from './page.ts';

/** What was measured. */
interface Speed {
  /** What one is called, for example `requests`. */
  readonly of: string;
  readonly perSecond: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** How long it was measured, with the time before the first answer. */
  readonly seconds: number;
  /** How it was measured, for example `8 in flight`. */
  readonly under: string;
}

/** Inputs that are priced. */
const COUNT = 1_000_000;
const HOURS_OF_A_MONTH = 730;
/** vCPUs of the instance types that are priced here, smallest first. */
const PRICED = [
  ['ml.c6i.large', 2],
  ['ml.c6i.xlarge', 4],
  ['ml.c6i.2xlarge', 8],
  ['ml.c6i.4xlarge', 16],
] as const;
/** A shorter measurement is mostly its beginning. */
const FEW_SECONDS = 10;
const START_MINUTES = 8;
const ENDPOINT_USE = 0.7;

/** What was measured had each input in an object of its own. */
const PRICED_WAYS = ['batch', 'worker', 'endpoint', 'async'] as const;
const WAY_NAMES: Readonly<Record<string, string>> = {
  batch: 'batch transform',
  worker: 'batch worker',
  endpoint: 'endpoint, then deleted',
  async: 'asynchronous endpoint',
};

/** The section, with the shipped prices. */
export async function awsSection(speed: Speed, machine: Machine): Promise<Section> {
  const prices = await readPrices();
  const type = typeFor(machine.cores);
  const hour = instanceHour(prices, type);
  const work: Workload = {
    images: COUNT,
    inputBytes: speed.inputBytes,
    outputBytes: speed.outputBytes,
    secondsPerImage: 1 / speed.perSecond,
    instanceCount: 1,
    imagesPerObject: 1,
    packedPerSecond: 1,
    objectsPerJob: 0,
    concurrentJobs: 1,
    startMinutes: START_MINUTES,
    endpointUse: ENDPOINT_USE,
    failed: 0,
    months: 1,
    kms: 'none',
    logBytes: LOG_BYTES,
    nat: false,
  };
  const estimates = PRICED_WAYS.map((way) => estimate(way, work, type, hour, prices));
  return {
    heading: 'This run on AWS',
    body: html`<p>An estimate, not an offer: a million ${speed.of} on one <code>${type}</code>. An endpoint that stays costs
${usd(hour * HOURS_OF_A_MONTH)} a month, whether anybody asks it or not.</p>
${costTable(estimates, speed.of)}
${assumptions(speed, machine, type, prices)}`,
  };
}

/** The smallest type with as many vCPUs as this machine has cores, else the largest. */
function typeFor(cores: number): string {
  return (PRICED.find(([, cpus]) => cpus >= cores) ?? PRICED[PRICED.length - 1])?.[0] ?? '';
}

function costTable(estimates: readonly Estimate[], of: string): Html {
  return tableHtml(
    `Hours and dollars for a million ${of}`,
    [
      { head: 'way' },
      // Where a phone shows it: the others are its parts.
      { head: 'total', isNumber: true },
      { head: 'hours', isNumber: true },
      ...COST_HEADS.slice(0, 3).map((head) => ({ head, isNumber: true })),
    ],
    estimates.map(({ way, hours, costs, cost }) => [
      WAY_NAMES[way],
      usd(cost),
      hours.toFixed(1),
      ...costColumns(costs)
        .slice(0, 3)
        .map((value) => usd(value)),
    ]),
  );
}

function assumptions(speed: Speed, machine: Machine, type: string, prices: Prices): Html {
  const { perSecond, seconds, inputBytes, outputBytes, under, of } = speed;
  return html`<p>This takes for granted:</p>
<ul>
<li>One <code>${type}</code> is as fast as the machine that was measured (${machine.cpu}, ${machine.cores} cores):
${perSecond.toPrecision(3)} ${of} a second, ${under}. Measure there before you rely on it:
<code>${commandName()} tune SAMPLE --endpoint NAME</code>.</li>
${
  seconds < FEW_SECONDS &&
  html`<li><strong>The measurement lasted ${seconds.toFixed(1)} s</strong>, which is too short to rely on: the first answers are slow.</li>
`
}<li>Prices are of ${prices.asOf}, ${prices.region}, ${
    /from memory/.test(prices.source) ? 'written down from memory' : prices.source
  }. <code>${commandName()} estimate --live-prices</code> asks AWS.</li>
<li>${START_MINUTES} minutes are paid before the first answer; an endpoint is busy ${ENDPOINT_USE * 100}% of its time.</li>
<li>An input has ${size(inputBytes)}, an answer ${size(outputBytes)}, each in an object of its own.</li>
</ul>`;
}

function size(bytes: number): string {
  return bytes < 1_000 ? `${Math.round(bytes)} bytes` : `${(bytes / 1_000).toFixed(1)} kB`;
}
