/** SageMaker's protobuf RecordIO, against SageMaker's Python SDK. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  decodeSageMakerRecord,
  encodeRecordIo,
  encodeSageMakerRecord,
  readRecordIo,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { execa } from 'execa';
import {
  bytesOf,
  type Case,
  joined,
  nearTensor,
  type Oracle,
  type Section,
  tensorOf,
} from './case.ts';

type Cases = Readonly<Record<string, Case>>;

/** Where tensors differ, to the last bit. */
function differs(tensors: TensorMap, expected: Cases): string | undefined {
  const names = Object.keys(expected);
  if (Object.keys(tensors).sort().join() !== [...names].sort().join()) return 'names';
  return names.find((name) => !nearTensor(tensors[name], expected[name] as Case, 0));
}

function differsAsRead({ file, records }: Case): string | undefined {
  const read = [...readRecordIo(bytesOf(file))].map((record) => decodeSageMakerRecord(record));
  const expected = records as { features: Cases; label: Cases }[];
  if (read.length !== expected.length) return `${read.length} records`;
  for (const [at, { features, label }] of expected.entries()) {
    const ours = read[at] as (typeof read)[0];
    const wrong = differs(ours.features, features) ?? differs(ours.label, label);
    if (wrong !== undefined) return `record ${at}: ${wrong}`;
  }
  return undefined;
}

/** The records of the other section's cases, written by this project and read by the SDK. */
async function write({ python, scripts, out, size }: Oracle): Promise<void> {
  const lines = (await readFile(join(out, 'sagemaker_records.jsonl'), 'utf8')).split('\n');
  const cases = lines
    .filter((line) => line !== '')
    .map((line) => {
      const records = JSON.parse(line).records as { features: Cases }[];
      const files = records.flatMap(({ features }) =>
        encodeRecordIo(encodeSageMakerRecord(tensorsOf(features))),
      );
      return JSON.stringify({ records, file: Buffer.from(joined(files)).toString('hex') });
    });
  await writeFile(join(out, 'sagemaker_records_ours.jsonl'), cases.join('\n'));
  await execa(python, [join(scripts, 'sagemaker_records.py'), out, size], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function tensorsOf(cases: Cases): TensorMap {
  return Object.fromEntries(Object.entries(cases).map(([name, given]) => [name, tensorOf(given)]));
}

function differsAsWritten({ records, read }: Case): string | undefined {
  const expected = records as { features: Cases }[];
  const theirs = read as Cases[];
  if (theirs.length !== expected.length) return `${theirs.length} records`;
  for (const [at, { features }] of expected.entries()) {
    const wrong = differs(tensorsOf(theirs[at] as Cases), features);
    if (wrong !== undefined) return `record ${at}: ${wrong}`;
  }
  return undefined;
}

/** Records both ways. */
export const sagemakerRecords: readonly Section[] = [
  {
    file: 'sagemaker_records',
    title: 'Protobuf RecordIO: dense, sparse, several features, labels, read',
    reference: "SageMaker's Python SDK",
    tolerance: 'every bit',
    differs: differsAsRead,
  },
  {
    file: 'sagemaker_records_written',
    title: 'The same records, written',
    reference: "SageMaker's Python SDK",
    tolerance: 'every bit',
    make: write,
    differs: differsAsWritten,
  },
];
