/** The page of `bench --report`. */

import { basename } from 'node:path';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import type { BenchRun, TransportResult } from '../bench/bench-run.ts';
import { commandName } from '../output/command-name.ts';
import { ms } from '../output/print.ts';
import { awsSection } from './aws-cost.ts';
import { figure } from './figure.ts';
import { type Html, html, tableHtml } from './html.ts';
import { latencyChart, partsChart } from './latency-chart.ts';
import { reportPage, type Section } from './page.ts';
import { PART_NAMES, partsByName } from './part-names.ts';

/** @param words of the command line, behind `sagemaker-tfs` */
export async function benchReport(run: BenchRun, words: readonly string[]): Promise<string> {
  const { results, request, target, machine } = run;
  const best = fastest(results);
  const speed = {
    of: 'requests',
    perSecond: best.requestsPerSecond,
    seconds: request.requests / best.requestsPerSecond,
    inputBytes: request.bytes,
    outputBytes: best.responseBytes,
    under: `${request.inFlight} in flight`,
  };
  return reportPage({
    title: `Latency of ${basename(request.file)}`,
    result: resultOf(run, best),
    sections: [latencySection(results), partsSection(results), await awsSection(speed, machine)],
    run,
    facts: {
      Target: target,
      Request: `${request.file}, ${request.bytes} bytes of ${request.contentType}`,
      Load: `${request.requests} requests over each transport, ${request.inFlight} at a time, after one that is not counted`,
      Command: html`<code>${[commandName(), ...words.map(shellWord)].join(' ')}</code>`,
    },
    next: { heading: 'What next', commands: nextCommands(run) },
  });
}

function fastest(results: BenchRun['results']): TransportResult {
  return results.reduce((a, b) => (b.requestsPerSecond > a.requestsPerSecond ? b : a));
}

const nameOf = ({ transport }: TransportResult) =>
  transport === 'own' ? "the runtime's transport" : transport;

function resultOf({ request, results }: BenchRun, best: TransportResult): Html {
  const { latency, requestsPerSecond } = best;
  const which = results.length > 1 ? `Over ${nameOf(best)}, half` : 'Half';
  return html`${which} of the answers came within <strong>${ms(latency.p50)} ms</strong> and 95% within
<strong>${ms(latency.p95)} ms</strong>: ${requestsPerSecond.toFixed(1)} a second with ${request.inFlight} in flight.`;
}

function latencySection(results: readonly TransportResult[]): Section {
  const series = results.map((result) => ({
    name: nameOf(result),
    milliseconds: result.milliseconds,
  }));
  return {
    heading: 'How long an answer takes',
    body: html`${figure(latencyChart(series))}${latencyTable(results)}`,
  };
}

function latencyTable(results: readonly TransportResult[]): Html {
  const heads = ['mean', 'P50', 'P90', 'P95', 'P99', 'slowest', 'first', 'a second'];
  return tableHtml(
    'Milliseconds of an answer, and answers a second',
    [{ head: 'transport' }, ...heads.map((head) => ({ head, isNumber: true }))],
    results.map((result) => {
      const { mean, p50, p90, p95, p99, max } = result.latency;
      const times = [mean, p50, p90, p95, p99, max, result.firstMs].map(ms);
      return [nameOf(result), ...times, result.requestsPerSecond.toFixed(1)];
    }),
  );
}

function partsSection(results: readonly TransportResult[]): Section | undefined {
  const timed = results.flatMap((result) =>
    result.parts ? [{ name: nameOf(result), parts: partsByName(result.parts) }] : [],
  );
  if (timed.length === 0) return undefined;
  return {
    heading: 'Where the time goes',
    body: html`${figure(partsChart(timed))}${tableHtml(
      'Mean milliseconds of each part',
      [{ head: 'part' }, ...timed.map(({ name }) => ({ head: name, isNumber: true }))],
      Object.values(PART_NAMES).map((part) => [
        part,
        ...timed.map(({ parts }) => ms(parts[part] ?? 0)),
      ]),
    )}`,
  };
}

function nextCommands({ request, target }: BenchRun) {
  const file = shellWord(request.file);
  const at = /^https?:/.test(target) ? `--url ${target}` : `--endpoint ${shellWord(target)}`;
  return [
    {
      purpose: 'Find the load that serves most:',
      line: `${commandName()} tune ${file} ${at} --report tune.html`,
    },
    {
      purpose: 'Compare with another run, such as after a change:',
      line: `${commandName()} bench ${file} ${at} --json > after.json\n${commandName()} bench --compare before.json after.json`,
    },
  ];
}
