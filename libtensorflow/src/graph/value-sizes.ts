/**
 * Finds graphs in which the values of a request set the size of a tensor: there, a few bytes can ask for more memory than
 * there is. Sizes that follow from shapes are bounded by what was sent.
 */
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import { type GraphNode, type GraphNodes, nodeOf, readGraph } from './graph-nodes.ts';
import { withSavedModelInTurns } from './saved-model-file.ts';
import { nested, servedMetaGraph } from './served-meta-graph.ts';
import { CHOSEN, FREE, type Marks, passedOn, setsSize } from './value-rules.ts';
import type { Span, WireFile } from './wire-file.ts';

/** Where a value of a request sets a size. */
export interface ValueSize {
  readonly node: string;
  readonly op: string;
  /** False for an operation that gets such values and is not known here: it may or may not. */
  readonly isKnown: boolean;
}

/** Nodes that are looked at in one go. */
const NODES_A_TURN = 1024;

/** Around a loop the marks of each variable only grow, three bits of each. */
type Outputs = readonly Marks[];

/**
 * By key of the signatures of the served MetaGraph where a value of a request sets a size: the first node that it is found at.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, or the file system's error
 */
export function valueSizesInTurns(directory: string): Promise<ReadonlyMap<string, ValueSize>> {
  return withSavedModelInTurns(directory, function* (file) {
    const found = new Map<string, ValueSize>();
    const graph = yield* readGraph(file);
    for (const { key, inputs, outputs } of readSignatures(file)) {
      const search = new Search(graph);
      yield* search.main(new Set(inputs.map(nodeOf)), outputs.map(nodeOf));
      if (search.found) found.set(key, search.found);
    }
    return found;
  });
}

/** Follows values through a graph and the functions that it calls. */
class Search {
  found: ValueSize | undefined;
  readonly #graph: GraphNodes;
  /** Outputs by function and marks of its arguments; undefined while it is looked at. */
  readonly #called = new Map<string, Outputs | undefined>();
  readonly #isTime = pauseAfter(NODES_A_TURN);

  constructor(graph: GraphNodes) {
    this.#graph = graph;
  }

  /** What `outputs` need, where `fed` nodes and placeholders hold values of a request. */
  *main(fed: ReadonlySet<string>, outputs: readonly string[]): Steps<void> {
    const { nodes } = this.#graph;
    const known = new Map<string, Outputs>([...fed].map((name) => [name, [FREE]]));
    for (const { name, op } of nodes.values()) {
      if (op.startsWith('Placeholder')) known.set(name, [FREE]);
    }
    yield* this.#spread(nodes, outputs, known);
  }

  /** Marks all that `roots` need, until nothing changes: graphs of TF1 have loops in themselves. */
  *#spread(
    nodes: ReadonlyMap<string, GraphNode>,
    roots: readonly string[],
    marks: Map<string, Outputs>,
  ): Steps<void> {
    const given = new Set(marks.keys());
    const order = inputsFirst(nodes, roots);
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      for (const node of order) {
        if (this.#isTime(1)) yield;
        if (given.has(node.name)) continue;
        const before = marks.get(node.name) ?? [];
        const after = yield* this.#outputsOf(node, argumentsOf(node, marks));
        if (this.found) return;
        if (after.every((mark, index) => mark === (before[index] ?? 0))) continue;
        marks.set(
          node.name,
          after.map((mark, index) => mark | (before[index] ?? 0)),
        );
        isChanged = true;
      }
    }
  }

  *#outputsOf(node: GraphNode, inputs: Outputs): Steps<Outputs> {
    const { op } = node;
    if (inputs.every((mark) => mark === 0)) return [0];
    if (this.#graph.functions.has(op)) return [all(yield* this.#call(node, op, inputs))];
    const named = (attribute: string) =>
      node.calls.find((call) => call.attribute === attribute)?.name ?? '';
    const [first = 0, ...rest] = inputs;
    if (/^(?:Stateful)?PartitionedCall$/.test(op))
      return yield* this.#call(node, named('f'), inputs);
    if (/^(?:Stateless)?(?:If|Case)$/.test(op)) return yield* this.#choose(node, first, rest);
    if (/^(?:Stateless)?While$/.test(op)) return yield* this.#loop(node, named, inputs);
    const passed = node.calls.length > 0 ? undefined : passedOn(op, inputs);
    if (passed === undefined || setsSize(op, inputs)) this.#find(node, passed !== undefined);
    return [passed ?? FREE];
  }

  /** One of several functions; a value of the request may choose it. */
  *#choose(node: GraphNode, choice: Marks, inputs: Outputs): Steps<Outputs> {
    let merged: Outputs = [];
    for (const { name } of node.calls) {
      merged = union(merged, yield* this.#call(node, name, inputs));
    }
    return merged.map((mark) => mark | (choice ? CHOSEN : 0));
  }

  /** A value that sets how often a loop goes around may set the size of what it gathers. */
  *#loop(node: GraphNode, named: (attribute: string) => string, inputs: Outputs): Steps<Outputs> {
    let state = inputs;
    while (!this.found) {
      const [condition = 0] = yield* this.#call(node, named('cond'), state);
      if (condition) this.#find(node, true);
      const next = union(state, yield* this.#call(node, named('body'), state));
      if (next.every((mark, index) => mark === state[index])) return state;
      state = next;
    }
    return state;
  }

  *#call(node: GraphNode, name: string, inputs: Outputs): Steps<Outputs> {
    const fn = this.#graph.functions.get(name);
    const key = `${name}:${inputs.join()}`;
    const known = this.#called.get(key);
    if (known) return known;
    // One that calls itself is not followed.
    if (!fn || this.#called.has(key)) {
      this.#find(node, false);
      return [];
    }
    this.#called.set(key, undefined);
    const signature = fn.signature();
    const nodes = new Map((yield* fn.nodes()).map((one) => [one.name, one]));
    const marks = new Map(
      signature.inputs.map((argument, index): [string, Outputs] => [
        argument,
        [inputs[index] ?? 0],
      ]),
    );
    yield* this.#spread(nodes, [...nodes.keys()], marks);
    const outputs = signature.outputs.map((written) => markOf(written, marks));
    this.#called.set(key, outputs);
    return outputs;
  }

  #find({ name, op }: GraphNode, isKnown: boolean): void {
    this.found ??= { node: name, op, isKnown };
  }
}

/** The nodes that `roots` need, each behind those that it needs, except in loops. */
function inputsFirst(
  nodes: ReadonlyMap<string, GraphNode>,
  roots: readonly string[],
): readonly GraphNode[] {
  const order: GraphNode[] = [];
  const seen = new Set<string>();
  const stack = roots.map((name) => ({ name, isDone: false }));
  for (let top = stack.pop(); top; top = stack.pop()) {
    const node = nodes.get(top.name);
    if (!node) continue;
    if (top.isDone) {
      order.push(node);
      continue;
    }
    if (seen.has(top.name)) continue;
    seen.add(top.name);
    stack.push({ name: top.name, isDone: true });
    for (const input of node.inputs) stack.push({ name: nodeOf(input), isDone: false });
  }
  return order;
}

/** It only waits for the others. */
function argumentsOf({ inputs }: GraphNode, marks: ReadonlyMap<string, Outputs>): Outputs {
  return inputs
    .filter((written) => !written.startsWith('^'))
    .map((written) => markOf(written, marks));
}

/** Most operations have one mark for all of their outputs, calls one for each. */
function markOf(written: string, marks: ReadonlyMap<string, Outputs>): Marks {
  const outputs = marks.get(nodeOf(written));
  if (!outputs) return 0;
  const index = /:(\d+)$/.exec(written)?.[1] ?? '0';
  return outputs.length === 1 ? (outputs[0] as Marks) : (outputs[Number(index)] ?? all(outputs));
}

function all(marks: Outputs): Marks {
  return marks.reduce((sum, mark) => sum | mark, 0);
}

function union(some: Outputs, others: Outputs): Outputs {
  const longer = some.length > others.length ? some : others;
  return longer.map((_, index) => (some[index] ?? 0) | (others[index] ?? 0));
}

/** A signature, by the names of its tensors. */
interface SignatureTensors {
  readonly key: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** MetaGraphDef: signature_def = 5; maps: key = 1, value = 2; SignatureDef: inputs = 1, outputs = 2. */
function readSignatures(file: WireFile): SignatureTensors[] {
  const served = servedMetaGraph(file);
  const values = (span: Span, number: number) =>
    nested(file, span, number).flatMap((entry) => nested(file, entry, 2));
  return (served ? nested(file, served, 5) : []).map((entry) => {
    const [key] = nested(file, entry, 1);
    const names = (number: number) =>
      nested(file, entry, 2).flatMap((signature) =>
        values(signature, number).flatMap((info) => tensorNames(file, info)),
      );
    return { key: key ? file.text(key) : '', inputs: names(1), outputs: names(2) };
  });
}

/** TensorInfo: name = 1, coo_sparse = 4 (three names), composite_tensor = 5 (components = 2: TensorInfo). */
function tensorNames(file: WireFile, info: Span): string[] {
  const texts = (span: Span, number: number) =>
    nested(file, span, number).map((name) => file.text(name));
  const sparse = nested(file, info, 4).flatMap((one) =>
    [1, 2, 3].flatMap((part) => texts(one, part)),
  );
  const parts = nested(file, info, 5).flatMap((one) =>
    nested(file, one, 2).flatMap((component) => tensorNames(file, component)),
  );
  return [...texts(info, 1), ...sparse, ...parts];
}
