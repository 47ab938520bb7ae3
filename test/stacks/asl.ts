/**
 * Executes a state machine of JSONata states: Pass, Wait (which takes no time), Choice, Task, Map, Succeed and Fail,
 * with Retry, Catch, variables that a choice assigns, the payload limit of 256 KiB, the maps' tolerated failures, the events of a history
 * and redrives.
 * What AWS would do is answered by the test.
 * @see https://states-language.net/spec.html
 */
import { createHash } from 'node:crypto';
import jsonata from 'jsonata';

/** Thrown by a {@link Service} for a task that fails, and by {@link execute} for an execution that fails. */
export class StateError extends Error {
  readonly error: string;
  override readonly cause: string;

  constructor(error: string, cause: string) {
    super(`${error}: ${cause}`);
    this.error = error;
    this.cause = cause;
  }
}

/**
 * A call to AWS by its resource, `arn:aws:states:::lambda:invoke`, with its arguments; or `wait`, with the seconds
 * that pass.
 */
export type Service = (resource: string, args: unknown) => unknown;

/** Thrown by a {@link Service} at the moment when somebody stops the execution; no state catches it. */
export class Stopped extends Error {}

/**
 * How far an execution has come. After {@link Progress.redrive} it continues in the state that it was in, with that one's input;
 * of a map's items those that have not succeeded do.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/redrive-map-run.html
 */
export class Progress {
  redrives = 0;
  at: { readonly name: string; readonly value: unknown } | undefined;
  result: { readonly value: unknown } | undefined;
  readonly variables: Record<string, unknown> = {};
  /** Of the map that it is in. */
  readonly items = new Map<number, Progress>();

  redrive(): void {
    this.redrives++;
    for (const item of this.items.values()) if (!item.result) item.redrive();
  }
}

interface Machine {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

interface Rule {
  readonly ErrorEquals: readonly string[];
  readonly MaxAttempts?: number;
  readonly Output?: unknown;
  readonly Next?: string;
}

interface State {
  readonly Type: string;
  readonly Next?: string;
  readonly End?: boolean;
  readonly Output?: unknown;
  readonly Label?: string;
  readonly Resource?: string;
  readonly Arguments?: unknown;
  readonly Choices?: readonly {
    Condition: string;
    Assign?: Readonly<Record<string, unknown>>;
    Output?: unknown;
    Next: string;
  }[];
  readonly Default?: string;
  readonly Retry?: readonly Rule[];
  readonly Catch?: readonly Rule[];
  readonly Seconds?: unknown;
  readonly Error?: unknown;
  readonly Cause?: unknown;
  readonly ItemReader?: { Resource: string; Arguments: unknown };
  readonly ItemSelector?: unknown;
  readonly ItemProcessor?: Machine;
  readonly MaxConcurrency?: unknown;
  readonly ToleratedFailureCount?: number;
  readonly ToleratedFailurePercentage?: number;
}

/** Bytes of JSON that pass between two states. */
const MAX_BYTES = 256 * 1024;

/** @see https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
function checkSize(value: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > MAX_BYTES) {
    throw new StateError('States.DataLimitExceeded', `${bytes} bytes pass between two states`);
  }
}

/**
 * Events of the longest history of an execution. Every run of a distributed map's item has a history of its own.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/state-map-distributed.html
 */
export const MAX_EVENTS = 25_000;

/**
 * Events of each kind of step.
 * @see https://docs.aws.amazon.com/step-functions/latest/apireference/API_HistoryEvent.html
 */
const EVENTS = {
  /** ExecutionStarted, ExecutionSucceeded or ExecutionFailed. */
  execution: 2,
  /** ...StateEntered, ...StateExited. */
  state: 2,
  /** TaskScheduled, TaskStarted, TaskSucceeded or TaskFailed; of each attempt. */
  task: 3,
  /** MapRunStarted, MapRunSucceeded or MapRunFailed. */
  map: 2,
} as const;

/** Counts the events of executions. */
export interface Histories {
  /** Events of the longest of all, those of maps' items included. */
  longest: number;
}

/** The history of one execution. */
interface History {
  readonly all: Histories;
  events: number;
}

/** @throws Error past the limit, which no state of a machine catches */
function record(history: History, kind: keyof typeof EVENTS): void {
  history.events += EVENTS[kind];
  const { all, events } = history;
  all.longest = Math.max(all.longest, events);
  if (events > MAX_EVENTS) throw new Error(`more than ${MAX_EVENTS} events`);
}

interface Scope {
  readonly input: unknown;
  readonly context: Record<string, unknown>;
  readonly result?: unknown;
  readonly errorOutput?: { Error: string; Cause: string };
  readonly history: History;
  /** Of this execution: a distributed map's items do not see those around them. */
  readonly variables: Record<string, unknown>;
  readonly items: Progress['items'];
}

/** Runs to the end. @throws StateError where the execution fails */
export async function execute(
  machine: object,
  input: unknown,
  service: Service,
  context: Record<string, unknown> = { Execution: { Name: 'execution', Id: 'arn:execution' } },
  histories: Histories = { longest: 0 },
  progress: Progress = new Progress(),
): Promise<unknown> {
  const history: History = { all: histories, events: 0 };
  record(history, 'execution');
  const { StartAt, States } = machine as Machine;
  const { variables, items, redrives: RedriveCount } = progress;
  const own = { ...context, Execution: { ...(context.Execution as object), RedriveCount } };
  let name: string | undefined = progress.at?.name ?? StartAt;
  let value = progress.at ? progress.at.value : input;
  while (name !== undefined) {
    const state: State | undefined = States[name];
    if (!state) throw new Error(`no state '${name}'`);
    progress.at = { name, value };
    record(history, 'state');
    const scope = { input: value, context: own, history, variables, items };
    ({ name, value } = await step(state, scope, service));
    checkSize(value);
  }
  progress.result = { value };
  return value;
}

async function step(
  state: State,
  scope: Scope,
  service: Service,
): Promise<{ name: string | undefined; value: unknown }> {
  switch (state.Type) {
    case 'Succeed':
      return { name: undefined, value: await output(state.Output, scope, scope.input) };
    case 'Fail':
      throw new StateError(
        String(await fill(state.Error, scope)),
        String(await fill(state.Cause, scope)),
      );
    case 'Choice':
      return choose(state, scope);
    case 'Wait': {
      const seconds = await fill(state.Seconds, scope);
      if (typeof seconds !== 'number' || !(seconds > 0)) throw new Error(`waits ${seconds} s`);
      await service('wait', seconds);
      return { name: state.Next, value: await output(state.Output, scope, scope.input) };
    }
    case 'Pass':
      return { name: state.Next, value: await output(state.Output, scope, scope.input) };
    case 'Task':
    case 'Map':
      return attempt(state, scope, () =>
        state.Type === 'Map' ? runMap(state, scope, service) : runTask(state, scope, service),
      );
    default:
      throw new Error(`no rule for a state of type ${state.Type}`);
  }
}

async function choose(state: State, scope: Scope) {
  for (const choice of state.Choices ?? []) {
    if ((await fill(choice.Condition, scope)) !== true) continue;
    const value = await output(choice.Output, scope, scope.input);
    for (const [name, template] of Object.entries(choice.Assign ?? {})) {
      scope.variables[name] = await fill(template, scope);
    }
    return { name: choice.Next, value };
  }
  return { name: state.Default, value: scope.input };
}

async function attempt(state: State, scope: Scope, work: () => Promise<unknown>) {
  for (let attempts = 0; ; attempts++) {
    record(scope.history, state.Type === 'Map' ? 'map' : 'task');
    try {
      const result = await work();
      return { name: state.Next, value: await output(state.Output, { ...scope, result }, result) };
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const handles = ({ ErrorEquals }: Rule) =>
        (error.error === 'States.DataLimitExceeded'
          ? [error.error]
          : [error.error, 'States.ALL', 'States.TaskFailed']
        ).some((name) => ErrorEquals.includes(name));
      if (attempts < (state.Retry?.find(handles)?.MaxAttempts ?? 0)) continue;
      const rule = state.Catch?.find(handles);
      if (!rule) throw error;
      const errorOutput = { Error: error.error, Cause: error.cause };
      const value = await output(rule.Output, { ...scope, errorOutput }, errorOutput);
      return { name: rule.Next, value };
    }
  }
}

async function runTask(state: State, scope: Scope, service: Service): Promise<unknown> {
  return service(state.Resource ?? '', await fill(state.Arguments, scope));
}

async function runMap(state: State, scope: Scope, service: Service): Promise<unknown> {
  const { ItemReader, ItemSelector, ItemProcessor } = state;
  if (!ItemReader || !ItemProcessor) throw new Error('a Map needs ItemReader and ItemProcessor');
  const items = (await service(
    ItemReader.Resource,
    await fill(ItemReader.Arguments, scope),
  )) as unknown[];
  let failures = 0;
  const tolerated = Math.max(
    state.ToleratedFailureCount ?? 0,
    ((state.ToleratedFailurePercentage ?? 0) / 100) * items.length,
  );
  const queue = items.entries();
  const work = async () => {
    for (const [Index, item] of queue) {
      if (failures > tolerated) return;
      const context = { ...scope.context, Map: { Item: { Index, Value: item } } };
      const input = await output(ItemSelector, { ...scope, context }, item);
      checkSize(input);
      // An item is an execution of its own.
      const own = scope.context.Execution as { readonly Id?: string };
      const child = { ...context, Execution: { ...own, Id: `${own.Id}/${state.Label}:${Index}` } };
      const progress = scope.items.get(Index) ?? new Progress();
      scope.items.set(Index, progress);
      if (progress.result) continue;
      try {
        await execute(ItemProcessor, input, service, child, scope.history.all, progress);
      } catch (error) {
        if (!(error instanceof StateError)) throw error;
        failures++;
      }
    }
  };
  const atOnce = Number((await fill(state.MaxConcurrency, scope)) ?? 40);
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  const results = Array.from(scope.items.values(), ({ result }) => result?.value);
  scope.items.clear();
  if (failures > tolerated) {
    throw new StateError(
      'States.ExceedToleratedFailureThreshold',
      'The specified tolerated failure threshold was exceeded',
    );
  }
  checkSize(results);
  return results;
}

async function output(template: unknown, scope: Scope, otherwise: unknown): Promise<unknown> {
  return template === undefined ? otherwise : fill(template, scope);
}

/** Replaces every `{% expression %}`. */
async function fill(template: unknown, scope: Scope): Promise<unknown> {
  if (typeof template === 'string') {
    const expression = /^\{%(.*)%\}$/s.exec(template)?.[1];
    return expression === undefined ? template : evaluate(expression, scope);
  }
  if (Array.isArray(template)) return Promise.all(template.map((item) => fill(item, scope)));
  if (typeof template !== 'object' || template === null) return template;
  const entries = Object.entries(template).map(
    async ([key, item]): Promise<[string, unknown]> => [key, await fill(item, scope)],
  );
  return Object.fromEntries(await Promise.all(entries));
}

const compiledBefore = new Map<string, jsonata.Expression>();

function compile(expression: string): jsonata.Expression {
  const before = compiledBefore.get(expression);
  if (before) return before;
  const compiled = jsonata(expression);
  compiled.registerFunction('hash', (text: string) =>
    createHash('sha256').update(text).digest('hex'),
  );
  compiled.registerFunction('parse', (text: string): unknown => JSON.parse(text));
  compiledBefore.set(expression, compiled);
  return compiled;
}

async function evaluate(expression: string, scope: Scope): Promise<unknown> {
  const compiled = compile(expression);
  const result: unknown = await compiled.evaluate(undefined, { ...scope.variables, states: scope });
  // JSONata's sequences are arrays with hidden marks; what passes between states is JSON.
  return result === undefined ? undefined : JSON.parse(JSON.stringify(result));
}
