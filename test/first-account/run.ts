/**
 * `npm run first-account`: what only an account can tell, each with yes, no or unknown, for less than five dollars.
 * It needs credentials of an administrator, docker, and the AWS CLI for metrics and logs.
 */
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { type Aws, connect, whoAmI } from './aws.ts';
import { cleanUp } from './cleanup.ts';
import { answers, type Evidence } from './facts.ts';
import { planText } from './plan.ts';
import { setUp } from './setup.ts';
import { gather } from './stages.ts';

const USAGE = `npm run first-account -- [--yes] [--region REGION]   asks SageMaker what only an account can tell
npm run first-account -- --clean [--region REGION]   deletes what a killed run left`;

const options = {
  yes: { type: 'boolean', default: false },
  clean: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  region: { type: 'string' },
  // Seconds between two looks.
  pause: { type: 'string', default: '15' },
} as const;

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Spend that? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** @returns the exit status: 1 where something is left */
async function clean(aws: Aws, account: string): Promise<number> {
  console.log('deleting everything');
  // Also after Ctrl-C: the deletion is not ended by the signal that ended the work.
  const left = await cleanUp(aws, account);
  for (const line of left) console.error(`left: ${line}`);
  if (left.length > 0) console.error('Run again with --clean.');
  return left.length > 0 ? 1 : 0;
}

async function work(aws: Aws, account: string, partition: string): Promise<void> {
  const evidence: Evidence = { failures: {} };
  try {
    const ground = await setUp(aws, account, partition);
    await gather(aws, ground, evidence, (line) => console.log(line));
  } finally {
    console.log('');
    for (const { fact, answer, detail } of answers(evidence)) {
      console.log(`${answer.padEnd(7)} ${fact} (${detail})`);
    }
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const end = new AbortController();
  const aws = await connect(end.signal, values.region, Number(values.pause) * 1000);
  const { account, partition } = await whoAmI(aws);
  if (values.clean) return clean(aws, account);
  console.log(planText(account, aws.region));
  if (!values.yes && !(await agreed())) {
    console.log('Nothing was made. Say --yes, or y on a terminal.');
    return 2;
  }
  let interrupted = false;
  process.on('SIGINT', () => {
    if (interrupted) console.error('still deleting; --clean deletes what would be left');
    interrupted = true;
    end.abort(new Error('ended by Ctrl-C'));
  });
  let status = 0;
  try {
    await work(aws, account, partition);
  } catch (error) {
    console.error((error as Error).message);
    status = interrupted ? 130 : 1;
  } finally {
    status = Math.max(status, await clean(aws, account));
  }
  return status;
}

// Not by itself: a request that was given up may hold its connection.
process.exit(await main());
