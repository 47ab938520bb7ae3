/** What AWS's service models refuse of a request of HTTP: stand-ins for AWS refuse the same. */
import type { IncomingMessage } from 'node:http';
import { asRequest } from './batch-resources.ts';
import { problemsOf, services } from './validate.ts';

/** `SageMaker.CreateModel` of `X-Amz-Target`, or `/v1/submitjob` of AWS Batch. */
function operationOf({ headers, url = '' }: Request): readonly [string, string] | undefined {
  const [target = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.');
  if (operation !== '') {
    const found = Object.entries(services).find(([, service]) => service.target === target);
    return found && [found[0], operation];
  }
  const path = /^\/v1\/(\w+)$/.exec(url)?.[1];
  const name = Object.keys(services.batch?.inputs ?? {}).find((one) => one.toLowerCase() === path);
  return name === undefined ? undefined : ['batch', name];
}

type Request = Pick<IncomingMessage, 'headers' | 'url'>;

/** @returns a line for each problem; none for services that `extract.py` does not name */
export function requestProblems(request: Request, body: Uint8Array | string): string[] {
  const invocation = /^\/endpoints\/([^/]+)\/([\w-]+)$/.exec(request.url ?? '');
  if (invocation) return invocationProblems(request, invocation);
  const [service, operation] = operationOf(request) ?? [];
  if (service === undefined || operation === undefined) return [];
  return problemsOf(service, operation, JSON.parse(String(body)));
}

/** Operations of SageMaker's runtime by the ends of their paths. */
const INVOCATIONS: Readonly<Record<string, string>> = {
  invocations: 'InvokeEndpoint',
  'async-invocations': 'InvokeEndpointAsync',
  'invocations-response-stream': 'InvokeEndpointWithResponseStream',
};

/** Of SageMaker's runtime: names and attributes travel in the path and in headers. */
function invocationProblems({ headers }: Request, [, name = '', end = '']: RegExpExecArray) {
  const service = 'sagemaker-runtime';
  const operation = INVOCATIONS[end] ?? end;
  const { inputs, shapes } = services[service] ?? { inputs: {}, shapes: {} };
  const members = shapes[inputs[operation] ?? '']?.headers ?? {};
  const sent = Object.entries(members).flatMap(([header, member]): [string, unknown][] => {
    const value = headers[header];
    // The one number among them is a limit in seconds.
    return value === undefined ? [] : [[member, /Seconds$/.test(member) ? Number(value) : value]];
  });
  const input = { EndpointName: decodeURIComponent(name), Body: '', ...Object.fromEntries(sent) };
  // An asynchronous call has no body.
  const { Body: _, ...bodiless } = input;
  return problemsOf(service, operation, operation.endsWith('Async') ? bodiless : input);
}

/** The answer of a service that refuses a request. */
export const refusal = (problems: readonly string[]) => ({
  __type: 'ValidationException',
  message: problems.join('; '),
});

/** Names of services in the resources of tasks, where the models have others. */
const TASK_SERVICES: Readonly<Record<string, string>> = { sfn: 'stepfunctions' };

/**
 * What the models refuse of a task's arguments.
 * @param resource such as `arn:aws:states:::aws-sdk:sagemaker:createTransformJob`
 */
export function taskProblems(resource: string, args: unknown): string[] {
  const [name = '', call = ''] = resource.replace(/^.*:::(aws-sdk:)?/, '').split(':');
  const service = TASK_SERVICES[name] ?? name;
  const operation = `${call.charAt(0).toUpperCase()}${call.slice(1)}`;
  if (services[service]?.inputs[operation] === undefined) return [`no model of ${resource}`];
  // Step Functions spells members with a capital, its own API does not.
  return problemsOf(service, operation, name === 'sfn' ? asRequest(args) : args);
}
