/** Configuration files in protobuf's text format. */

import { readFile } from 'node:fs/promises';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { fromText } from '@bufbuild/protobuf/txtpb';
import { invalidArgument, notFound } from '@sagemaker-tfs/libtensorflow/serving';

/**
 * Reads a text file as one message.
 * @throws StatusError NOT_FOUND if the file cannot be read, INVALID_ARGUMENT with the place that is wrong
 */
export async function readTextProto<Desc extends DescMessage>(
  schema: Desc,
  file: string,
): Promise<MessageShape<Desc>> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw notFound(`${file}; ${error.message}`);
  });
  try {
    return fromText(schema, text);
  } catch (error) {
    throw invalidArgument(`Invalid protobuf file: '${file}': ${(error as Error).message}`, {
      cause: error,
    });
  }
}
