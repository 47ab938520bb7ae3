/** Decodes parts of a protobuf file with their schema. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { readMessage } from '@sagemaker-tfs/tensors/protos';
import { damaged, messageOf, PackagingError } from '../errors.ts';
import type { Span, WireFile } from './wire.ts';

/** Decodes a span with its schema. @throws PackagingError CORRUPT_FILE */
export function decode<Desc extends DescMessage>(
  file: WireFile,
  schema: Desc,
  span: Span,
): MessageShape<Desc> {
  try {
    return readMessage(schema, file.bytes(span));
  } catch (error) {
    if (error instanceof PackagingError) throw error;
    const what = `its ${schema.typeName} at byte ${span.start}: ${messageOf(error)}`;
    throw damaged(file.path, what, error);
  }
}
