/** The catalogues of errors, as a page: a table a room. */
import { BATCH_ERRORS } from '@sagemaker-tfs/batch';
import { CLIENT_ERRORS } from '@sagemaker-tfs/client';
import { START_ERRORS } from '@sagemaker-tfs/container';
import { LIBTENSORFLOW_ERRORS } from '@sagemaker-tfs/libtensorflow';
import { MANIFEST_ERRORS } from '@sagemaker-tfs/manifest';
import { PACKAGING_ERRORS } from '@sagemaker-tfs/model-packaging';
import { TENSOR_ERRORS } from '@sagemaker-tfs/tensors';
import { RUNTIME_ERRORS, type RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';
import { COMMAND_ERRORS } from 'sagemaker-tfs';
import { CONSTRUCT_ERRORS, RUN_ERRORS } from '../lib/testing/parts.ts';
import { table } from '../tools/table.ts';
import { CONTAINER_HELP } from './container-errors.ts';

type Catalogue = Readonly<Record<string, string>>;
type ExitCatalogue = Readonly<
  Record<string, { readonly exitStatus: number; readonly meaning: string }>
>;

/** Text of `docs/errors.md`. */
export function errorsText(): string {
  return `# Errors

Generated from the code by \`npm run docs\`; a test keeps it true.

Every error has a code, which stays the same from release to release, and a message that says what was wrong, where,
and what to do. With \`--json\` the command prints \`{"error": "...", "code": "..."}\` to stdout.

## The command

Exit status 1 means that the work failed, 2 that the command was used wrongly. Codes of packaging, of batch and of
TensorFlow's library, below, pass through it; where the container answered, the code is the container's.

${withExit(COMMAND_ERRORS)}

## Packaging: \`package\`, \`inspect\`, \`verify\`

${withExit(PACKAGING_ERRORS)}

### What is wrong with a manifest

The cause of a packaging error, or of one that ends the container's start.

${plain(MANIFEST_ERRORS)}

## Batch: S3 URIs and manifests

${withExit(BATCH_ERRORS)}

## The constructs

Thrown at synthesis, and by the functions of batch transform and of the smoke test.

${plain(CONSTRUCT_ERRORS)}

## Runs of batch transform

What an execution of the state machine fails with.

${table(
  ['error', 'meaning'],
  Object.entries(RUN_ERRORS).map(([error, { meaning }]) => [`\`${error}\``, meaning]),
)}

## The client

\`PredictionError.code\`. Where the container answered, it is the container's code, else \`HTTP_<status>\`.

${plain(CLIENT_ERRORS)}

## The container

Its answer, also inside SageMaker's \`ModelError\`: \`{"error": "...", "code": "..."}\`. A handler that throws
\`HttpError\` answers its own status, with \`HANDLER_REJECTED\` or a code of its own.

${container()}

### What ends its start

The log's last lines have code and message, and the message ends the log once more as plain text.

${plain(START_ERRORS)}

## TensorFlow's library, in-process

${plain(LIBTENSORFLOW_ERRORS)}

## Tensor data

${plain(TENSOR_ERRORS)}
`;
}

function container(): string {
  const rows = Object.entries(CONTAINER_HELP).map(([code, { detail, whatToDo }]) => {
    const { status, meaning } = RUNTIME_ERRORS[code as RuntimeErrorCode];
    const means = detail === undefined ? meaning : `${meaning} ${detail}`;
    return [`\`${code}\``, String(status), `${means}<br>→ ${whatToDo}`];
  });
  // In one column: a fourth is beyond the edge of the site's page.
  return table(['code', 'status', 'meaning, and what to do'], rows);
}

function plain(catalogue: Catalogue): string {
  const rows = Object.entries(catalogue).map(([code, meaning]) => [`\`${code}\``, meaning]);
  return table(['code', 'meaning'], rows);
}

function withExit(catalogue: ExitCatalogue): string {
  const rows = Object.entries(catalogue).map(([code, { exitStatus, meaning }]) => [
    `\`${code}\``,
    String(exitStatus),
    meaning,
  ]);
  return table(['code', 'exit status', 'meaning'], rows);
}
