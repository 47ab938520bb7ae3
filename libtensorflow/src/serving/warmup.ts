/** Warm-up: the requests that a model brings along run before it is available. */
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { decodePredictRequest } from '@sagemaker-tfs/tensors';
import {
  Code,
  MultiInferenceRequestSchema,
  type PredictionLog,
  PredictionLogSchema,
  PredictRequestSchema,
  readMessage,
} from '@sagemaker-tfs/tensors/protos';
import { atMost, readRegularFile } from '../regular-file.ts';
import { classify, regress, serializedExamples } from './examples.ts';
import { multiInference } from './multi-inference.ts';
import { predict } from './predict.ts';
import type { Servable } from './servable.ts';
import { invalidArgument, StatusError, toStatusError } from './status-error.ts';
import { tfRecords } from './tf-record.ts';
import { MAX_WARMUP_BYTES, MAX_WARMUP_RECORDS, WARMUP_PATH } from './warmup-file.ts';

/**
 * Runs the PredictionLog records of {@link WARMUP_PATH}, each `iterations` times.
 * @param log gets a line for each step
 * @returns how many records there were
 * @throws StatusError if the file is broken or a request fails: the version then does not load
 */
export async function warmUp(
  servable: Servable,
  directory: string,
  iterations: number,
  log: (message: string) => void = () => undefined,
): Promise<number> {
  const path = join(directory, WARMUP_PATH);
  const file = await readRegularFile(path, atMost(path, MAX_WARMUP_BYTES)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    },
  );
  if (!file) {
    log(`No warmup data file found at ${path}`);
    return 0;
  }
  log(`Starting to read warmup data for model at ${path}`);
  const records = await runRecords(servable, path, file, iterations);
  log(
    `Finished reading warmup data for model at ${path}. Number of warmup records read: ${records}.`,
  );
  return records;
}

async function runRecords(
  servable: Servable,
  path: string,
  file: Buffer,
  iterations: number,
): Promise<number> {
  let records = 0;
  try {
    for (const record of tfRecords(file)) {
      records += 1;
      if (records > MAX_WARMUP_RECORDS) {
        throw invalidArgument(
          `Number of warmup records exceeds the maximum (${MAX_WARMUP_RECORDS}) at ${path}`,
        );
      }
      const prediction = parse(record, path);
      for (let i = 0; i < iterations; i += 1) await runRecord(servable, prediction);
    }
  } catch (error) {
    const status = toStatusError(error);
    if (status.code !== Code.DATA_LOSS) throw error;
    throw new StatusError(
      Code.DATA_LOSS,
      `${status.message}. Please verify your warmup data is in TFRecord format.`,
      { cause: error },
    );
  }
  return records;
}

function parse(record: Uint8Array, path: string): PredictionLog {
  try {
    return readMessage(PredictionLogSchema, record);
  } catch (error) {
    throw invalidArgument(`Failed to parse warmup record from ${path}`, { cause: error });
  }
}

async function runRecord(servable: Servable, { logType: log }: PredictionLog): Promise<void> {
  switch (log.case) {
    case 'predictLog': {
      const request = log.value.request ?? create(PredictRequestSchema);
      const bytes = toBinary(PredictRequestSchema, request);
      (await predict(servable, decodePredictRequest(bytes), false)).release();
      return;
    }
    case 'classifyLog': {
      const { modelSpec, input } = log.value.request ?? {};
      await classify(servable, modelSpec?.signatureName ?? '', serializedExamples(input), false);
      return;
    }
    case 'regressLog': {
      const { modelSpec, input } = log.value.request ?? {};
      await regress(servable, modelSpec?.signatureName ?? '', serializedExamples(input), false);
      return;
    }
    case 'multiInferenceLog': {
      const request = log.value.request ?? create(MultiInferenceRequestSchema);
      await multiInference(servable, request, false);
      return;
    }
    case 'sessionRunLog':
    case 'predictStreamedLog': {
      const number = PredictionLogSchema.field[log.case].number;
      const message = `Unsupported log_type for warmup: ${number}`;
      throw new StatusError(Code.UNIMPLEMENTED, message);
    }
  }
}
