/** S3 and the queue of an asynchronous endpoint, in memory: what InvokeEndpointAsync is given is answered in S3. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ModelStandIn } from './model-stand-in.ts';

/** An object of S3. */
interface Stored {
  readonly body: Uint8Array;
  readonly contentType: string;
}

/** A queue, and the bucket behind it. */
export interface QueueStandIn {
  /** Objects by `/BUCKET/KEY`. */
  readonly objects: ReadonlyMap<string, Stored>;
  /** Answers a request to S3 or to the queue; false where it is for neither. */
  answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<boolean>;
}

export function startQueue({ invoke, asleep }: ModelStandIn): QueueStandIn {
  const objects = new Map<string, Stored>();
  return {
    objects,
    async answer(request, response, body) {
      const [path = ''] = (request.url ?? '').split('?');
      if (/^\/endpoints\/[^/]+\/async-invocations$/.test(path)) {
        await enqueue(request, response);
        return true;
      }
      if (!/^\/[a-z0-9.-]+\/.+/.test(path) || path.startsWith('/endpoints/')) return false;
      serveObject(objects, request, response, decodeURIComponent(path), body);
      return true;
    },
  };

  async function enqueue({ url = '', headers }: IncomingMessage, response: ServerResponse) {
    const text = (name: string) => headers[`x-amzn-sagemaker-${name}`] as string | undefined;
    const input = objects.get(placeOf(text('inputlocation') ?? ''));
    const id = randomUUID();
    const reply = await invoke({
      endpoint: url.split('/')[2] ?? '',
      variant: undefined,
      contentType: text('content-type'),
      accept: text('accept'),
      customAttributes: text('custom-attributes') ?? '',
      body: Buffer.from(input?.body ?? ''),
    });
    const places = {
      output: `s3://data/async-output/${id}.out`,
      failure: `s3://data/failed/${id}`,
    };
    const ok = reply.status >= 200 && reply.status <= 299;
    // As the service: not at once.
    const answered = () => objects.set(placeOf(ok ? places.output : places.failure), reply);
    if (!asleep) setTimeout(answered, 50);
    response.writeHead(202, {
      'content-type': 'application/json',
      'x-amzn-sagemaker-outputlocation': places.output,
      'x-amzn-sagemaker-failurelocation': places.failure,
    });
    response.end(JSON.stringify({ InferenceId: id }));
  }
}

const placeOf = (uri: string) => uri.replace(/^s3:\//, '');

function serveObject(
  objects: Map<string, Stored>,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  place: string,
  body: Buffer,
): void {
  if (method === 'PUT') {
    objects.set(place, { body, contentType: headers['content-type'] ?? '' });
    response.end();
  } else if (method === 'DELETE') {
    objects.delete(place);
    response.writeHead(204).end();
  } else {
    const found = objects.get(place);
    response.setHeader('content-type', found?.contentType ?? 'application/xml');
    response.writeHead(found ? 200 : 404);
    response.end(found?.body ?? '<Error><Code>NoSuchKey</Code><Message>none</Message></Error>');
  }
}
