/** Errors come from a room's catalogue: a code, and a message in one form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { ROOMS } from './rooms.ts';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Bare errors that never reach a user as they are, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'batch/src/manifest-stream.ts': 'the cause of a BatchError',
  'batch/src/s3/patient-retries.ts':
    'ends the tries of the SDK, which throws the last error itself',
  'container/src/handler/answer-stream.ts': 'what run.ts says of a handler: HANDLER_FAILED',
  'container/src/handler/attached.ts': 'what run.ts says of a handler: HANDLER_FAILED',
  'container/src/handler/handler-json.ts': 'what run.ts says of a handler: HANDLER_FAILED',
  'container/src/handler/handler-response.ts': 'what run.ts says of a handler: HANDLER_FAILED',
  'container/src/handler/handler-tensors.ts': 'what run.ts says of a handler: HANDLER_FAILED',
  'container/src/handler/loader.ts': 'the cause of a StartError',
  'container/src/handler/run.ts': 'what it says itself of a handler: HANDLER_FAILED',
  'container/src/images/decode-with-sharp.ts': 'the cause of a BAD_INPUT',
  'container/src/model-server/start.ts': 'nothing calls it',
  'container/src/postprocess/labels.ts': 'the cause of a StartError',
  'container/src/processes/connection-states.ts': 'ends the start: there is no temporary directory',
  'container/src/processes/stall-watch.ts': 'nobody throws it: it has the stack',
  'container/src/threads/thread-pool.ts': 'the cause of a ServingError',
  'container/src/thrown.ts': "a handler's exception, made plain for a cause",
  'container/src/transport/grpc/http2-connection.ts': 'the cause of a ConnectionLost',
  'container/src/transport/grpc/unary-reply.ts': 'the cause of a ConnectionLost',
  'container/src/transport/http/http-connection.ts': 'the cause of a ConnectionLost',
  'cli/src/estimate/prices.ts': "zod's findings in words, as the cause of a CommandError",
  'lib/endpoint-api/authorizer/find-keys.ts': 'the cause of a ConstructError',
  'lib/endpoint-api/authorizer/index.ts': 'the one text that API Gateway answers with 401',
  'libtensorflow/src/fetch/interruption.ts':
    'the reason for an abort; the process ends by its signal',
  'model-packaging/src/handler/declared-bodies.ts':
    'of the program that reads an export: its message becomes HANDLER_SCHEMA',
};

/** The playground has no catalogue: it shows its errors beside the field that they are about. */
const rooms = ROOMS.filter((room) => room !== 'playground');
const files = trackedFiles(...rooms.map((room) => `${room}/**.ts`)).filter(
  (file) =>
    /^cli\/src\/testing\/(fake-context|golden|start-model)\.ts$/.test(file) ||
    !/\.test\.ts$|\/gen\/|\/testing|\/test\/|test-support|stand-in|memory-check/.test(file),
);

const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

test('no product code throws an error without a code', () => {
  const bare = [...texts].filter(([, text]) => /\bnew Error\(/.test(text)).map(([file]) => file);
  expect(bare.sort()).toEqual(Object.keys(ALLOWED).sort());
});

/** Whose messages are checked, with the place of the message among the arguments. */
const MESSAGE_AT: Readonly<Record<string, number>> = {
  CommandError: 1,
  PackagingError: 1,
  ConstructError: 1,
  BatchError: 1,
  PredictionError: 1,
  LibTensorFlowError: 1,
  ServingError: 1,
  StartError: 1,
  TensorError: 1,
  ManifestError: 2,
  badInput: 0,
  malformed: 0,
  usageError: 0,
  unreadable: 0,
};

/** An expression of swc's syntax tree, as far as texts are made of it. */
interface Node {
  readonly type: string;
  readonly callee?: { readonly value?: string };
  readonly arguments?: readonly { readonly expression: Node }[];
  readonly value?: unknown;
  readonly quasis?: readonly { readonly cooked: string }[];
  readonly expressions?: readonly Node[];
  readonly left?: Node;
  readonly right?: Node;
  readonly consequent?: Node;
  readonly alternate?: Node;
}

/** `{}.` for a value that `sentence` ends with a period. */
const placeholder = (node?: Node) => (node?.callee?.value === 'sentence' ? '{}.' : '{}');

/** The texts that an expression may be, values in them as `{}`; none if no part of it is a literal. */
function textsOf(node: Node | undefined): string[] {
  if (node?.type === 'StringLiteral') return [String(node.value)];
  if (node?.type === 'TemplateLiteral') {
    const { quasis = [], expressions = [] } = node;
    return [
      quasis
        .map(({ cooked }, i) => (i > 0 ? placeholder(expressions[i - 1]) : '') + cooked)
        .join(''),
    ];
  }
  if (node?.type === 'BinaryExpression') {
    const [left = '{}'] = textsOf(node.left);
    const [right = '{}'] = textsOf(node.right);
    return [left + right];
  }
  if (node?.type === 'ConditionalExpression') {
    return [...textsOf(node.consequent), ...textsOf(node.alternate)];
  }
  return [];
}

function messagesOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(messagesOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type, callee, arguments: given } = node as Node;
  const at =
    type === 'NewExpression' || type === 'CallExpression'
      ? MESSAGE_AT[callee?.value ?? '']
      : undefined;
  const own = at === undefined ? [] : textsOf(given?.[at]?.expression);
  return [...own, ...Object.values(node).flatMap(messagesOf)];
}

test('messages are sentences: what is wrong. What to do.', () => {
  const messages = [...texts].flatMap(([file, text]) =>
    messagesOf(parseSync(text, { syntax: 'typescript', tsx: false })).map(
      (message) => `${file}: ${message}`,
    ),
  );
  expect(messages.length).toBeGreaterThan(200);
  // A message ends in a period, in what somebody else said, or in a command to copy.
  const ends = /[.?]$|\{\}$|(Run|with): [a-z][\w -]*$/i;
  const wrong = messages.filter((message) => message.includes('; ') || !ends.test(message));
  expect(wrong).toEqual([]);
  // Other rooms' messages are causes of these, or meet a caller who has the protocol at hand.
  const advising = /^(?:batch|cli|lib|manifest|model-packaging)\//;
  // What to do stands behind what is wrong, or in a text from elsewhere that is all of the message.
  const advises = /[.?!]\)?\s+\S|^\S+ [{}:\s]+$/;
  const bare = messages.filter((message) => advising.test(message) && !advises.test(message));
  // Who presses Ctrl-C knows what to do.
  expect(bare).toEqual(['cli/src/interrupt.ts: interrupted by {}.{}']);
});
