/** The page of `batch local --report`. */

import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import type { JobResult } from '../batch/local/agent.ts';
import type { InputFailure } from '../batch/local/completeness.ts';
import { byReason, retryCommand } from '../batch/local/failures.ts';
import type { RunFacts } from '../bench/run-facts.ts';
import { commandName } from '../output/command-name.ts';
import { awsSection } from './aws-cost.ts';
import { figure } from './figure.ts';
import { type Html, html } from './html.ts';
import { type Command, reportPage, type Section } from './page.ts';
import { rateChart } from './time-charts.ts';

/** A job as it was run here. */
interface JobRun {
  readonly result: JobResult;
  readonly folder: string;
  readonly out: string;
  readonly contentType: string;
  /** [seconds since the start, inputs a second]. */
  readonly rate: readonly (readonly [number, number])[];
  /** Mean bytes of an input, and of an output. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly run: RunFacts;
  /** Of the command line, behind `sagemaker-tfs`. */
  readonly words: readonly string[];
}

/** Reasons, and keys of each, that the page lists; `redrive-reasons.json` has all. */
const LISTED = { reasons: 50, keys: 200 };

export async function jobReport(job: JobRun): Promise<string> {
  const { result, folder, out, contentType, run, words } = job;
  return reportPage({
    title: `Batch of ${folder}`,
    result: resultOf(result),
    sections: [
      result.done > 0 ? rateSection(job) : undefined,
      outcomeSection(result, words),
      result.done > 0 ? await costSection(job) : undefined,
    ],
    run,
    facts: {
      Inputs: `${result.inputs} in ${folder}, ${contentType}`,
      Outputs: out,
      Load: `${result.maxConcurrentTransforms} requests in flight`,
      Command: html`<code>${[commandName(), ...words.map(shellWord)].join(' ')}</code>`,
    },
    next: { heading: 'What next', commands: nextCommands(job) },
  });
}

function rateSection({ rate, result }: JobRun): Section {
  const heading = 'How fast it went';
  if (rate.length > 1) return { heading, body: figure(rateChart({ of: 'inputs', points: rate })) };
  return {
    heading,
    body: html`<p>The run took ${result.seconds.toFixed(1)} s, too short for a chart of its rate.</p>`,
  };
}

function resultOf({ inputs, missing, done, skipped, failed, seconds }: JobResult): Html {
  const parts = [
    `${(inputs - missing).toLocaleString('en')} of ${inputs.toLocaleString('en')} inputs have an output`,
    ...(done > 0
      ? [
          `${done.toLocaleString('en')} were answered in ${seconds.toFixed(1)} s, ${(done / seconds).toPrecision(3)} a second`,
        ]
      : []),
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} were there before`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  return html`${parts.join('; ')}.`;
}

function outcomeSection(result: JobResult, words: readonly string[]): Section {
  const { failures, redriveManifest, redriveReasons } = result;
  if (failures.length === 0 && !redriveManifest) {
    return { heading: 'What failed', body: html`<p>Nothing: every input has its output.</p>` };
  }
  const groups = byReason(failures);
  const more = groups.length - LISTED.reasons;
  return {
    heading: 'What failed',
    body: html`<p>The most frequent reasons first; ${redriveReasons ?? 'the log'} has every input.</p>
${groups.slice(0, LISTED.reasons).map(reasonHtml)}
${more > 0 && html`<p>And ${more} more reasons.</p>`}
${
  redriveManifest &&
  html`<p>When the cause is fixed, this tries those alone that have no output:</p>
<pre><code>${retryCommand(words, redriveManifest)}</code></pre>`
}`,
  };
}

function reasonHtml([reason, failures]: readonly [string, readonly InputFailure[]]): Html {
  const keys = failures.slice(0, LISTED.keys).map(({ key }) => html`<li><code>${key}</code></li>`);
  const more = failures.length - LISTED.keys;
  return html`<details${failures.length <= 5 && html` open`}>
<summary><strong class="bad">${failures.length}</strong> × ${reason}</summary>
<ul>${keys}</ul>
${more > 0 && html`<p>And ${more} more.</p>`}
</details>
`;
}

function costSection({ result, inputBytes, outputBytes, run }: JobRun): Promise<Section> {
  const speed = {
    of: 'inputs',
    perSecond: result.done / result.seconds,
    seconds: result.seconds,
    inputBytes,
    outputBytes,
    under: `${result.maxConcurrentTransforms} in flight`,
  };
  return awsSection(speed, run.machine);
}

function nextCommands({ out, result }: JobRun): Command[] {
  const { done, seconds } = result;
  return [
    {
      purpose: 'All answers in one file, each with its key:',
      line: `${commandName()} batch fetch ${shellWord(out)} --out answers.parquet`,
    },
    ...(done > 0
      ? [
          {
            purpose:
              'Hours and dollars for your number of inputs, on the instances of your choice:',
            line: `${commandName()} estimate --images 1000000 --seconds-per-image ${(seconds / done).toPrecision(3)}`,
          },
        ]
      : []),
  ];
}
