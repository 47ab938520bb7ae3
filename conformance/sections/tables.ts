/** Parquet, against pyarrow. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEFAULT_DECODE_LIMITS,
  decodeRequest,
  encodeResponse,
} from '@sagemaker-tfs/container/parts';
import { DTYPES, type DType, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
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

/** A signature with an input for each column. */
function signatureOf(columns: Cases): Signature {
  const specs = Object.entries(columns).map(([name, given]) => {
    const dtype = given.dtype as DType;
    const shape = [-1, ...(given.shape as number[]).slice(1)];
    return [name, { tensorName: `${name}:0`, dtype, dtypeEnum: DTYPES[dtype].enumValue, shape }];
  });
  return {
    key: 'serving_default',
    methodName: 'tensorflow/serving/predict',
    inputs: Object.fromEntries(specs),
    outputs: {},
  };
}

function differs(tensors: TensorMap, expected: Cases): string | undefined {
  const names = Object.keys(expected);
  if (Object.keys(tensors).join() !== names.join()) return 'names';
  return names.find((name) => !nearTensor(tensors[name], expected[name] as Case, 0));
}

async function differsAsRead({ file, columns }: Case): Promise<string | undefined> {
  const expected = columns as Cases;
  const { inputs } = await decodeRequest(bytesOf(file), {
    signature: signatureOf(expected),
    contentType: 'application/x-parquet',
    limits: { ...DEFAULT_DECODE_LIMITS, parquet: true },
  });
  return differs(inputs, expected);
}

/** The columns of the other section's cases, written by this project and read by pyarrow. */
async function write({ python, scripts, out, size }: Oracle): Promise<void> {
  const lines = (await readFile(join(out, 'tables.jsonl'), 'utf8')).split('\n').filter(Boolean);
  const cases: string[] = [];
  for (const line of lines) {
    const outputs = (JSON.parse(line) as { columns: Cases }).columns;
    const tensors = Object.fromEntries(
      Object.entries(outputs).map(([name, given]) => [name, tensorOf(given)]),
    );
    const { body } = await encodeResponse(tensors, 'application/x-parquet', {
      signature: signatureOf(outputs),
      outputOrder: Object.keys(outputs),
      form: 'row',
      parquet: true,
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    const file = Buffer.from(joined(pieces)).toString('hex');
    cases.push(JSON.stringify({ outputs, file }));
  }
  await writeFile(join(out, 'tables_ours.jsonl'), cases.join('\n'));
  await execa(python, [join(scripts, 'tables.py'), out, size], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function differsAsWritten({ outputs, read }: Case): string | undefined {
  const theirs = Object.entries(read as Cases).map(([name, given]) => [name, tensorOf(given)]);
  return differs(Object.fromEntries(theirs), outputs as Cases);
}

/** Tables both ways. */
export const tables: readonly Section[] = [
  {
    file: 'tables',
    title: 'Parquet: numbers, texts and lists, packed in eight ways and two versions, read',
    reference: 'pyarrow',
    tolerance: 'every bit',
    differs: differsAsRead,
  },
  {
    file: 'tables_written',
    title: 'The same columns, written',
    reference: 'pyarrow',
    tolerance: 'every bit',
    make: write,
    differs: differsAsWritten,
  },
];
