/** Resident memory: at the largest replies, over many requests, and while a client reads slowly. */
import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakBytes, residentBytes } from '../tools/process-stats.ts';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startOurs } from './lib/front-ends.ts';
import { type Load, runLoad, sendMany } from './lib/load.ts';
import { median } from './lib/median.ts';
import { detectionPicture, tenPictures } from './lib/pictures.ts';

const COUNT = { full: 100_000, quick: 5_000 };
const IN_FLIGHT = 16;
const SLOW_SECONDS = { full: 5, quick: 2 };

export const memory: Bench = {
  name: 'memory',
  question: 'How much memory do large replies, many requests and slow readers take?',
  async run(context): Promise<Findings> {
    const large = await largeReplies(context);
    const many = await manyRequests(context);
    const slow = await slowReaders(context);
    const worst = Math.max(...large.map(({ ratio }) => Number(ratio)));
    return {
      tables: [
        {
          title: 'Peak over idle, resident MB, one request in flight',
          columns: columns({
            name: 'Reply',
            reply: 'Reply MB',
            idle: 'Idle',
            peak: 'Peak',
            ratio: 'Peak over idle, in replies',
          }),
          rows: large,
        },
        {
          title: `Over ${many.count.toLocaleString('en-US')} requests, resident MB`,
          columns: columns({
            part: 'Requests',
            resident: 'Median',
          }),
          rows: many.rows,
        },
        {
          title: 'While a client reads 1 MB/s of a reply, resident MB over idle',
          columns: columns({
            name: 'Reply',
            reply: 'Reply MB',
            over: 'Over idle',
          }),
          rows: slow,
        },
      ],
      targets: [
        {
          what: 'Peak memory over idle, in sizes of the largest reply in flight',
          bound: 'at most',
          target: 2.5,
          measured: worst,
          unit: 'x',
        },
        {
          what: `Memory after ${many.count.toLocaleString('en-US')} requests against that after the second quarter`,
          bound: 'at most',
          target: 1.1,
          measured: many.growth,
          unit: 'x',
        },
      ],
      notes: [
        'Resident memory of the front end alone, from `/proc`. Idle is after a few requests for one small output, when every thread has started; the peak is that of the period after it. The first quarter of many requests is a warm-up, the target compares the last with the second.',
      ],
    };
  },
};

const mainPid = (frontEnd: FrontEnd): number => frontEnd.pids()[0] as number;

/** Begins a new period for `VmHWM` (proc(5), clear_refs). */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

async function largeReplies(context: BenchContext): Promise<Row[]> {
  const jpeg = await detectionPicture();
  const ten = await tenPictures();
  const rows: Row[] = [];
  for (const [name, canned, contentType, accept, body, small] of [
    ['Detections, JSON', 'B', 'application/x-image', 'application/json', jpeg, 'num_detections'],
    ['Detections, npz', 'B', 'application/x-image', 'application/x-npz', jpeg, 'num_detections'],
    ['Ten pictures, npy', 'Y', 'application/octet-stream', 'application/x-npy', ten, 'grid_16'],
    ['Ten pictures, npz', 'Y', 'application/octet-stream', 'application/x-npz', ten, 'grid_16'],
  ] as const) {
    const frontEnd = await startOurs(canned);
    try {
      const pid = mainPid(frontEnd);
      const idle = await idleBytes(frontEnd.url, pid, contentType, body, small);
      resetPeak(pid);
      const headers = { 'content-type': contentType, accept };
      const seconds = context.seconds;
      const { responseBytes } = await runLoad({
        url: frontEnd.url,
        headers,
        body,
        inFlight: 1,
        seconds,
        warmUpSeconds: 0,
      });
      const peak = peakBytes(pid);
      const ratio = (peak - idle) / responseBytes;
      rows.push({ name, reply: responseBytes / 1e6, idle: idle / 1e6, peak: peak / 1e6, ratio });
      context.log(
        `${name}: ${(idle / 1e6).toFixed(0)} to ${(peak / 1e6).toFixed(0)} MB, ${ratio.toFixed(2)} replies`,
      );
    } finally {
      await frontEnd.stop();
    }
  }
  return rows;
}

/** Resident bytes once the runtime has served a few requests for one small output, and rested. */
async function idleBytes(
  url: string,
  pid: number,
  contentType: string,
  body: Uint8Array,
  output: string,
) {
  const headers = {
    'content-type': contentType,
    'x-amzn-sagemaker-custom-attributes': `tfs-outputs=${output}`,
  };
  await runLoad({ url, headers, body, inFlight: 1, seconds: 0.5, warmUpSeconds: 0 });
  await sleep(1_000);
  return residentBytes(pid);
}

async function manyRequests({ quick, log }: BenchContext) {
  const count = quick ? COUNT.quick : COUNT.full;
  const frontEnd = await startOurs('J');
  try {
    const pid = mainPid(frontEnd);
    const body = Buffer.from(
      JSON.stringify({ instances: [Array.from({ length: 1_000 }, (_, at) => at / 7)] }),
    );
    const load: Load = {
      url: frontEnd.url,
      headers: { 'content-type': 'application/json' },
      body,
      inFlight: IN_FLIGHT,
      seconds: 0,
      warmUpSeconds: 0,
    };
    const samples: number[] = [];
    await sendMany(load, count, (sent) => {
      if (sent % (count / 100) === 0) samples.push(residentBytes(pid));
    });
    const quarters = [0, 25, 50, 75].map((from) => median(samples.slice(from, from + 25)));
    const rows = quarters.map((resident, index) => ({
      part: `${((count / 4) * index + 1).toLocaleString('en-US')} to ${((count / 4) * (index + 1)).toLocaleString('en-US')}`,
      resident: resident / 1e6,
    }));
    log(`${count} requests: ${rows.map(({ resident }) => resident.toFixed(0)).join(', ')} MB`);
    return { count, rows, growth: (quarters[3] as number) / (quarters[1] as number) };
  } finally {
    await frontEnd.stop();
  }
}

async function slowReaders(context: BenchContext): Promise<Row[]> {
  const body = await detectionPicture();
  const rows: Row[] = [];
  for (const [name, accept, megabytes] of [
    ['Detections, JSON', 'application/json', 80],
    ['Detections, npz', 'application/x-npz', 29],
  ] as const) {
    const frontEnd = await startOurs('B');
    try {
      const pid = mainPid(frontEnd);
      const idle = residentBytes(pid);
      await readSlowly(
        frontEnd.url,
        accept,
        body,
        context.quick ? SLOW_SECONDS.quick : SLOW_SECONDS.full,
      );
      const over = (residentBytes(pid) - idle) / 1e6;
      rows.push({ name, reply: megabytes, over });
      context.log(`${name}, read slowly: ${over.toFixed(0)} MB over idle`);
    } finally {
      await frontEnd.stop();
    }
  }
  return rows;
}

/** Reads 100 KB every 100 ms for some seconds, and leaves the connection open. */
function readSlowly(url: string, accept: string, body: Buffer, seconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-image', accept };
    const request = httpRequest(
      `${url}/invocations`,
      { method: 'POST', headers },
      async (response) => {
        response.on('error', () => undefined);
        for (let step = 0; step < seconds * 10; step++) {
          response.read(100_000);
          await sleep(100);
        }
        resolve();
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
