/** The OpenAPI document (3.1.0) of a served model, made from its signatures and what is declared around them. */

import { type Manifest, shortFingerprint } from '@sagemaker-tfs/manifest';
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import type { DeclaredBodies } from '../handler/declared-bodies.ts';
import { canBeAsked } from '../inspect/can-be-asked.ts';
import type { InspectReport, ModelReport } from '../inspect/report.ts';
import { callableSignatures, servedGraph } from '../inspect/served-graph.ts';
import { relocated } from '../json-schema/references.ts';
import { ANY_CONTENT, answerContent, type Content, requestContent } from './content.ts';
import type { DescribedSignature } from './described-signature.ts';
import { answerSchemas } from './json-answers.ts';
import { requestSchemas } from './json-requests.ts';
import { anyOf, objectSchema, type Schema } from './value-schema.ts';

/** An OpenAPI document: plain data. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** What is described besides the models. */
export interface OpenApiOptions {
  /** Of the archive. Default: none, a plain model. */
  readonly manifest?: Manifest | undefined;
  /** What the handler declares of its bodies. Default: nothing, so bodies are open. */
  readonly declared?: DeclaredBodies | undefined;
  /** What the only model is called. Default: its name. Several have their names. */
  readonly title?: string | undefined;
  /** Where the models are served. Default: a runtime on this machine. */
  readonly url?: string | undefined;
}

/** Describes `/invocations` and `/ping` of a runtime that serves the models of a report. */
export function openApiDocument(
  { models }: Pick<InspectReport, 'models'>,
  { manifest, declared, title, url = 'http://127.0.0.1:8080' }: OpenApiOptions = {},
): OpenApiDocument {
  const signatures = models.flatMap((model) => describedSignatures(model, manifest));
  const components = new Map<string, Schema>([['Error', ERROR]]);
  const named = (kind: 'request' | 'answer', formsOf: (one: DescribedSignature) => Schema[]) =>
    anyOf(
      signatures.map((one) => {
        const name = freeName(components, `${one.key}.${kind}`);
        components.set(name, anyOf(formsOf(one)));
        return { $ref: `#/components/schemas/${name}` };
      }),
    );
  const hasHandler = manifest?.handler !== undefined;
  const own = (half: 'request' | 'answer', builtIn: () => Content): Content => {
    const bodies = declared?.[half];
    if (hasHandler && bodies) return declaredContent(bodies, half, components);
    const isBuiltIn = !hasHandler || (declared && !declared.decides.includes(half));
    return isBuiltIn ? builtIn() : ANY_CONTENT;
  };
  const contents = {
    request: own('request', () =>
      requestContent(signatures, named('request', requestSchemas), manifest?.preprocess),
    ),
    answer: own('answer', () => answerContent(named('answer', answerSchemas))),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: models.map(({ name }) => (models.length === 1 && title) || name).join(', '),
      version:
        (manifest && shortFingerprint(manifest.fingerprint)) ??
        models[0]?.versions.at(-1)?.version ??
        '1',
      description: descriptionOf(models, hasHandler, declared),
    },
    servers: [{ url }],
    paths: {
      '/invocations': { post: invocation(contents) },
      '/ping': { get: PING },
    },
    components: { schemas: Object.fromEntries(components) },
  };
}

function describedSignatures(
  { versions }: ModelReport,
  manifest: Manifest | undefined,
): DescribedSignature[] {
  const newest = versions.at(-1);
  return callableSignatures(servedGraph(newest))
    .filter(([, report]) => canBeAsked(report, manifest))
    .map(([key, report]) => ({
      key,
      report,
      features: newest?.exampleFeatures ?? {},
      postprocess: manifest?.postprocess,
    }));
}

function descriptionOf(
  models: readonly ModelReport[],
  hasHandler: boolean,
  declared: DeclaredBodies | undefined,
): string {
  const open = (['request', 'answer'] as const).filter(
    (half) => declared?.decides.includes(half) !== false && declared?.[half] === undefined,
  );
  const sentences = [
    hasHandler
      ? (HANDLED[open.join(' ')] ?? '')
      : 'JSON is that of TensorFlow Serving. Numbers that JSON lacks are the bare words NaN, Infinity and -Infinity.',
    ...(models.length > 1
      ? ['The custom attribute `tfs-model-name` chooses the model; without it the first answers.']
      : []),
  ];
  return sentences.join(' ');
}

/** By what the handler leaves open. */
const HANDLED: Readonly<Record<string, string>> = {
  'request answer': 'A handler decides what requests and answers hold, and does not declare it.',
  request:
    'A handler decides what requests hold, and does not declare it. It declares its answers.',
  answer: 'A handler decides what answers hold, and does not declare it. It declares its requests.',
  '': 'A handler declares what it takes and answers.',
};

/** The name, or with a number behind it if it is taken. OpenAPI allows ASCII letters, digits, `.`, `-` and `_`. */
function freeName(taken: ReadonlyMap<string, unknown>, name: string): string {
  const allowed = name.replace(/[^A-Za-z0-9._-]/g, '_');
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? allowed : `${allowed}.${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Schemas of a handler as components, since what they refer to lies in themselves (`#/$defs/...`). */
function declaredContent(
  bodies: NonNullable<DeclaredBodies['request']>,
  half: string,
  components: Map<string, Schema>,
): Content {
  const entries = Object.entries(bodies).map(([type, schema]) => {
    const name = freeName(components, `handler.${half}`);
    const at = `#/components/schemas/${name}`;
    const moved = relocated(schema, at);
    components.set(name, typeof moved === 'boolean' ? (moved ? {} : { not: {} }) : moved);
    return [type, { schema: { $ref: at } }] as const;
  });
  return Object.fromEntries(entries);
}

const ERROR = objectSchema({
  error: { type: 'string', description: 'What was wrong, where, and what to do.' },
  code: { type: 'string', description: 'For programs, such as BAD_INPUT.' },
});

const ATTRIBUTES = {
  name: CUSTOM_ATTRIBUTES_HEADER,
  in: 'header',
  description:
    '`name=value` pairs, separated by commas: `tfs-signature`, `tfs-outputs`, `tfs-method`, `tfs-model-name`, `tfs-model-version`, `tfs-model-label`, `tfs-transport`, `tfs-timings`.',
  schema: { type: 'string', maxLength: 1024 },
};

function errorAnswer(description: string) {
  const schema = { $ref: '#/components/schemas/Error' };
  return { description, content: { 'application/json': { schema } } };
}

function invocation({ request, answer }: { request: Content; answer: Content }) {
  return {
    operationId: 'invoke',
    summary: 'One inference.',
    parameters: [ATTRIBUTES],
    requestBody: { required: true, content: request },
    responses: {
      200: { description: 'The answer, in the type that Accept asks for.', content: answer },
      '4XX': errorAnswer('The request was at fault.'),
      '5XX': errorAnswer(
        'The server was at fault, or is busy: Retry-After tells when to try again.',
      ),
    },
  };
}

const PING = {
  operationId: 'ping',
  summary: 'Whether every model is ready.',
  responses: {
    200: { description: 'Every model is ready.' },
    503: errorAnswer('A model is not ready, and why.'),
  },
};
