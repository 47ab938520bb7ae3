/** TensorFlow's remarks when it starts, kept off stderr. */
import { closeSync, readFileSync, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import koffi from 'koffi';

const STDERR = 2;

/**
 * Remarks that TensorFlow writes while the system loads it, before any setting of it can be made: that its log is not
 * initialized, and lines of the level I, such as that oneDNN is on.
 */
const REMARK =
  /^(WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR|I\d{4} .*)\n?/gm;

/** What is kept while at least one library loads. */
interface Hold {
  /** The real stderr. */
  readonly own: number;
  /** A file in memory in its place. */
  readonly kept: number;
  holders: number;
}

let hold: Hold | undefined;

/**
 * Keeps what is written to stderr, by native code and others, until the function that it returns is called. That writes
 * all but TensorFlow's remarks. Nothing is kept on macOS, which has no files in memory, where the processor cannot run TensorFlow, which then writes why and ends
 * the process, nor in worker threads, because they share stderr with others.
 */
export function holdStderr(): () => void {
  hold ??=
    process.platform === 'linux' && isMainThread && runsTensorFlow() ? takeStderr() : undefined;
  const taken = hold;
  if (!taken) return () => undefined;
  taken.holders++;
  return () => {
    if (--taken.holders > 0) return;
    hold = undefined;
    giveBack(taken);
  };
}

function takeStderr(): Hold | undefined {
  const { dup, dup2, memfd } = descriptors();
  const kept = memfd('stderr', 0);
  if (kept < 0) return undefined;
  const own = dup(STDERR);
  if (own < 0) {
    closeSync(kept);
    return undefined;
  }
  dup2(kept, STDERR);
  return { own, kept, holders: 0 };
}

function giveBack({ own, kept }: Hold): void {
  descriptors().dup2(own, STDERR);
  closeSync(own);
  const rest = textOf(kept).replace(REMARK, '');
  closeSync(kept);
  try {
    if (rest !== '') writeSync(STDERR, rest);
  } catch {
    // Who reads stderr has gone, or does not keep up.
  }
}

/** Functions of glibc, 2.27 and later, which TensorFlow needs as well. */
function descriptors() {
  const libc = koffi.load(null);
  return {
    dup: libc.func('int dup(int fd)') as (fd: number) => number,
    dup2: libc.func('int dup2(int from, int to)') as (from: number, to: number) => number,
    memfd: libc.func('int memfd_create(const char *name, uint flags)') as (
      name: string,
      flags: number,
    ) => number,
  };
}

/** Whether TensorFlow's check of the processor will pass: its builds for x86-64 need AVX. */
function runsTensorFlow(): boolean {
  if (process.arch !== 'x64') return true;
  try {
    return /^flags\s*:.*\bavx\b/m.test(readFileSync('/proc/cpuinfo', 'latin1'));
  } catch {
    return false;
  }
}

/** The file from its start. */
function textOf(descriptor: number): string {
  const parts: Buffer[] = [];
  for (let position = 0; ; ) {
    const part = Buffer.alloc(65_536);
    const count = readSync(descriptor, part, 0, part.length, position);
    if (count === 0) return Buffer.concat(parts).toString('utf8');
    parts.push(part.subarray(0, count));
    position += count;
  }
}
