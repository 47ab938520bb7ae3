/** The page of `tune --report`. */

import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import type { RunFacts } from '../bench/run-facts.ts';
import { commandName } from '../output/command-name.ts';
import { ms } from '../output/print.ts';
import { isHighestTried, NEAR_BEST, type Point } from '../tune/point.ts';
import { curveText, serverText } from '../tune/server-text.ts';
import { awsSection } from './aws-cost.ts';
import { figure } from './figure.ts';
import { type Html, html, type Part, tableHtml } from './html.ts';
import { loadChart } from './load-chart.ts';
import { type Command, reportPage, type Section } from './page.ts';

/** What `tune` found. */
export interface TuneRun {
  readonly points: readonly Point[];
  /** The setting to run with; absent if none met the latency without errors. */
  readonly knee: Point | undefined;
  readonly run: RunFacts;
  /** The files that were sent, and their mean size. */
  readonly samples: readonly string[];
  readonly inputBytes: number;
  /** Of one answer. */
  readonly outputBytes: number;
  readonly contentTypes: readonly string[];
  /** Seconds of each measurement. */
  readonly seconds: number;
  /** Of the command line, behind `sagemaker-tfs`. */
  readonly words: readonly string[];
}

export async function tuneReport(tuned: TuneRun): Promise<string> {
  const { points, knee, run, samples, inputBytes, contentTypes, seconds, words } = tuned;
  const command = [commandName(), ...words.map(shellWord)].join(' ');
  return reportPage({
    title: 'The load to run with',
    result: resultOf(knee),
    sections: [curveSection(points, knee), knee && (await costSection(tuned, knee))],
    run,
    facts: {
      Samples: `${samples.length} files of ${contentTypes.join(' and ')}, ${Math.round(inputBytes)} bytes on average, ${samples[0]} the first`,
      Load: `each setting for ${seconds} s, after a warm-up of a third`,
      Command: html`<code>${command}</code>`,
    },
    next: { heading: 'What next', commands: nextCommands(command, knee) },
  });
}

function resultOf(knee: Point | undefined): Part {
  if (!knee) return 'No setting met the latency without errors.';
  return html`Run with <strong>${knee.concurrency} in flight</strong>, ${knee.batchSize} a request, ${serverText(knee.server)}:
${knee.imagesPerSecond.toFixed(1)} images a second, 95% of the answers within ${ms(knee.p95 ?? knee.p50)} ms.`;
}

function curveSection(points: readonly Point[], knee: Point | undefined): Section {
  return {
    heading: 'Throughput against latency',
    body: html`${figure(loadChart(points, knee))}
<p>Chosen is the lowest P95 of those without errors within ${Math.round(100 * (1 - NEAR_BEST))}% of the best throughput.
${knee && limitText(knee, points)}</p>
${pointTable(points, knee)}`,
  };
}

/** What was seen beyond the chosen load, if anything was. */
function limitText(knee: Point, points: readonly Point[]): string {
  return isHighestTried(knee, points)
    ? `It is the highest load that was tried: more in flight may give more. Raise --max-concurrency above ${knee.concurrency} to see.`
    : 'More in flight gave little or nothing more, and a longer wait.';
}

const HEADS = ['in flight', 'images/s', 'P50 ms', 'P95 ms', 'errors'];

function pointTable(points: readonly Point[], knee: Point | undefined): Html {
  return tableHtml(
    'Every setting that was measured',
    [{ head: 'server' }, ...HEADS.map((head) => ({ head, isNumber: true }))],
    points.map((point) => [
      `${curveText(point)}${point === knee ? ' (chosen)' : ''}`,
      String(point.concurrency ?? '-'),
      point.imagesPerSecond.toFixed(1),
      ms(point.p50),
      point.p95 === undefined ? '-' : ms(point.p95),
      String(point.errors),
    ]),
    knee && points.indexOf(knee),
  );
}

function costSection(
  { run, inputBytes, outputBytes, seconds }: TuneRun,
  knee: Point,
): Promise<Section> {
  const speed = {
    of: 'images',
    perSecond: knee.imagesPerSecond,
    seconds,
    inputBytes,
    outputBytes,
    under: `${knee.concurrency} in flight, ${knee.batchSize} a request`,
  };
  return awsSection(speed, run.machine);
}

function nextCommands(command: string, knee: Point | undefined): Command[] {
  if (!knee) {
    return [{ purpose: 'Try again with a higher limit:', line: `${command} --max-latency 1000` }];
  }
  return [
    {
      purpose: 'Write the chosen setting into your configuration, at the next run:',
      line: `${command} --write serving.config.ts`,
    },
    {
      purpose: 'Hours and dollars for your number of images, on the instances of your choice:',
      line: `${commandName()} estimate --images 1000000 --seconds-per-image ${(1 / knee.imagesPerSecond).toPrecision(3)}`,
    },
  ];
}
