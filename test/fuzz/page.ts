/** docs/fuzzing.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withNext } from '../../docs/navigation.ts';
import type { EndToEndReport } from './end-to-end.ts';
import type { Outcome, Tried } from './exercise.ts';
import { inputsOf, type Results } from './results.ts';
import { TARGETS } from './targets/index.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'fuzzing.md');

/** Writes the page. */
export function writePage({ seed, outcomes, endToEnd = {} }: Results): void {
  const rows = TARGETS.flatMap(({ name }) => outcomes[name] ?? []).map(row);
  const page = text(seed, rows, Object.values(endToEnd).map(runtimeRow));
  writeFileSync(PAGE, withNext('docs/fuzzing.md', page));
}

function row(outcome: Outcome): string {
  const { target, ways, slowestMs, peakMiB, findings } = outcome;
  const cells = [
    target,
    inputsOf(outcome).toLocaleString('en'),
    share(ways.built),
    share(ways.changed),
    Math.ceil(slowestMs),
    peakMiB,
    findings.length,
  ];
  return `| ${cells.join(' | ')} |`;
}

function runtimeRow({
  backend,
  inputs,
  statuses,
  honest,
  peakMiB,
  findings,
}: EndToEndReport): string {
  const number = (value: number) => value.toLocaleString('en');
  const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${number(count)}`);
  const cells = [
    backend,
    number(inputs),
    answers.join(', '),
    number(honest),
    number(peakMiB),
    findings.length,
  ];
  return `| ${cells.join(' | ')} |`;
}

function share({ inputs, read }: Tried): string {
  return inputs === 0 ? '' : `${((100 * read) / inputs).toFixed(1)}%`;
}

function text(seed: number, rows: readonly string[], runtimes: readonly string[]): string {
  return `# Fuzzing

Every parser of bytes that come from outside gets inputs that it must read, or refuse with an error of its own that is
the sender's fault. Found is: any other error (a 500), the end of the process, an input of more than 2 s of processor
time, one that takes more memory than a multiple of its bytes (64 for most parsers, 2,100 for what deflate packs) beside
48 MiB (64 for a picture), a process that holds 512 MiB more than at its start, and an honest input that is read
otherwise than before.

In a clone of this repository:

\`\`\`sh
npm run fuzz                                  # 20,000 inputs a parser
npm run fuzz -- --inputs 1000000 --only json  # more for one
npm run fuzz -- --seed 7                      # others; the same seed makes the same
npm run fuzz -- --inputs 1000000 --jobs 2 --write   # the table below; continues where it was stopped
npm run fuzz -- --end-to-end --inputs 20000   # whole runtimes
npm run fuzz -- --end-to-end --large --inputs 2000  # the same, bodies of up to 25 MB
\`\`\`

Three of four inputs are **built** by the format's own rules: a body that fits the signature, an archive, a table of a
checkpoint, a picture's segments, a dialog of HTTP. Some field of it is wrong now and then, and all lengths and
checksums around that field are right, so that it is not refused at the door. The others are whole inputs with bytes
**changed**: values at the edges of their range, parts taken out, repeated or moved, words of the format put in. The
table shows which share of each was read to its end.

Of the connections, the server must give each request before the first wrong one its own answer, and nothing behind it;
a call to a hostile model server must end when the connection does.

## Why the generators are our own

**Decided.** Inputs come from \`test/fuzz/build\` and \`test/fuzz/random.ts\`, and from no library.

- **Coverage guidance**: [Jazzer.js](https://github.com/CodeIntelligenceTesting/jazzer.js) is the fuzzer for Node that has
  it, and is maintained (4.0.0 of April 2026). It installs and does not load: its library needs glibc 2.38, and Debian 12, on
  which this project is developed, has 2.36; 2.1.0 does not install (\`prebuild: not found\`); to build it takes LLVM's
  sources from GitHub. Where it loads, a target is a function of bytes, as here: \`test/fuzz/targets\` would serve it.
- **[fast-check](https://fast-check.dev)** installs and runs, and was tried for the structures: JSON came as fast as from
  here. It makes values, and these parsers read bytes: lengths, offsets and checksums have to agree around the one field
  that is wrong. The writers that see to that are most of \`test/fuzz/build\`, and would stay. What it would add is shrinking.
  Inputs here are small already, a finding is one number that makes the same input everywhere (\`--seed\`, and its index),
  and millions of inputs had a handful of findings, each cut down by hand in minutes. A second source of chance would have
  to be saved and continued as well as the first, over processes that crash.

If findings become frequent or large, shrinking is worth more than one number, and fast-check is the one to take.

## Results

A million inputs a parser take three hours of processor time, most of it for the slow ones: a tar archive is unpacked to
files, a picture decoded, a connection opened. \`npm run fuzz -- --inputs 1000000 --write\` continues where it was stopped.

Memory is judged by the input since parquet and snappy were added. The other rows are of before, when one ceiling was
for all, 1,500 MiB a process; 5,000 inputs of each were tried again by the new rule, and nothing was found.

Once the machine stood still for seven minutes, and an HTTP server that had not had its headers for 60 s said so, which
counted as found. The 100,000 inputs of that part were tried again, and nothing was.

What it found, and what became of it:

- A JPEG of more than 262,144 pixels whose tables libjpeg refuses at once was a 500; it is a 400.
- Of requests in one go, the first got the refusal of a later one that was no HTTP; whole ones get their own answers.
- A request line without a version (HTTP/0.9) was answered; it is refused.

The inputs in \`test/fuzz/corpus\` were findings once. They, and a few hundred others a parser, are tried by the tests.

Written by \`npm run fuzz -- --write\`, seed ${seed}, on Node ${process.versions.node}. Milliseconds are those of the slowest input.

| parser | inputs | built, read | changed, read | slowest, ms | memory, MiB | found |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}

## Whole runtimes

\`npm run fuzz -- --end-to-end\` sends such bodies, of every media type, to a runtime with models of strings, many dtypes,
channels first, and pixels, four at a time. Found is: a status of 500 or more, a request without an answer, the end of a
process, 1,500 MiB more than before, an honest request in between that does not get its right answer, and, in the log,
a word that every request carried. With \`--large\` a part of each body is repeated up to 25 MB: very many rows, frames,
chunks, directories of a TIFF.

| backend | inputs | answers by status | honest, right | memory, MiB | found |
| --- | ---: | --- | ---: | ---: | ---: |
${runtimes.join('\n')}
`;
}
