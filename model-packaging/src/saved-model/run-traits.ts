/**
 * Signatures whose run changes the model (training steps, counters, batch normalization in training mode), and those
 * that XLA must compile.
 */
import { join } from 'node:path';
import { type NodeDef, NodeDefSchema } from '@sagemaker-tfs/tensors/protos';
import { decode } from './decode.ts';
import { LENGTH_DELIMITED, type Span, type WireFile, withWireFile } from './wire.ts';

/** A signature by the names of its output tensors, as an inspected one has them. */
interface SignatureOutputs {
  readonly outputs: Readonly<Record<string, { readonly tensorName: string }>>;
}

/** Operations that write variables, tables or queues. `ScatterNd` alone makes a tensor. */
const WRITES =
  /^(?:Assign|Resource(?:Sparse)?Apply|(?:Sparse)?Apply|ResourceScatter|Scatter(?!Nd$|NdNonAliasing)|(?:Resource)?CountUpTo|LookupTable(?:Insert|Import|Remove)|Queue(?:Enqueue|Dequeue)|Stack(?:Push|Pop))/;

/** TensorFlow's kXlaMustCompileAttr (compiler/tf2xla/tf2xla_defs.cc), of nodes and of functions. */
const MUST_COMPILE = '_XlaMustCompile';

/** What of a node decides. */
interface Node extends Traits {
  /** Names of nodes whose outputs it takes or waits for. */
  readonly inputs: readonly string[];
  /** Functions that it may run. */
  readonly calls: readonly string[];
}

interface Traits {
  readonly writes: boolean;
  /** Marked by `tf.function(jit_compile=True)`. */
  readonly compiles: boolean;
}

interface LibraryFunction {
  readonly compiles: boolean;
  readonly nodes: readonly Node[];
}

interface Graph {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly functions: ReadonlyMap<string, LibraryFunction>;
}

/**
 * The keys of the signatures that write what other requests read, of the model's first MetaGraph.
 * @param directory the one with `saved_model.pb`
 * @throws PackagingError CORRUPT_FILE
 */
export function writingSignatures(
  directory: string,
  signatures: Readonly<Record<string, SignatureOutputs>>,
): ReadonlySet<string> {
  return signaturesThat('writes', directory, signatures);
}

/**
 * The keys of the signatures that run a function with `jit_compile=True`, of the model's first MetaGraph.
 * @param directory the one with `saved_model.pb`
 * @throws PackagingError CORRUPT_FILE
 */
export function compilingSignatures(
  directory: string,
  signatures: Readonly<Record<string, SignatureOutputs>>,
): ReadonlySet<string> {
  return signaturesThat('compiles', directory, signatures);
}

function signaturesThat(
  trait: keyof Traits,
  directory: string,
  signatures: Readonly<Record<string, SignatureOutputs>>,
): ReadonlySet<string> {
  const graph = withWireFile(join(directory, 'saved_model.pb'), readFirstGraph);
  const keys = Object.keys(signatures).filter((key) =>
    reaches(trait, graph, Object.values((signatures[key] as SignatureOutputs).outputs)),
  );
  return new Set(keys);
}

function reaches(
  trait: keyof Traits,
  graph: Graph,
  outputs: readonly { readonly tensorName: string }[],
): boolean {
  const waiting = outputs.map(({ tensorName }) => nodeOf(tensorName));
  const seen = new Set(waiting);
  const called = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const node = graph.nodes.get(name);
    if (!node) continue;
    if (node[trait]) return true;
    if (node.calls.some((fn) => functionReaches(trait, graph, fn, called))) return true;
    for (const input of node.inputs) {
      if (seen.has(input)) continue;
      seen.add(input);
      waiting.push(input);
    }
  }
  return false;
}

/** @param called functions that were looked at before */
function functionReaches(
  trait: keyof Traits,
  graph: Graph,
  name: string,
  called: Set<string>,
): boolean {
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (called.has(next)) continue;
    called.add(next);
    const fn = graph.functions.get(next);
    if (trait === 'compiles' && fn?.compiles) return true;
    for (const node of fn?.nodes ?? []) {
      if (node[trait]) return true;
      waiting.push(...node.calls);
    }
  }
  return false;
}

/** SavedModel: meta_graphs = 2; MetaGraphDef: graph_def = 2; GraphDef: node = 1, library = 2; function = 1. */
function readFirstGraph(file: WireFile): Graph {
  const [metaGraph] = nested(file, { start: 0, end: file.size }, 2);
  const [graph] = metaGraph ? nested(file, metaGraph, 2) : [];
  if (!graph) return { nodes: new Map(), functions: new Map() };
  const functions = nested(file, graph, 2).flatMap((library) => nested(file, library, 1));
  return {
    nodes: new Map(nested(file, graph, 1).flatMap((span) => readNode(file, span))),
    functions: new Map(functions.map((span) => readFunction(file, span))),
  };
}

/** FunctionDef: signature = 1, node_def = 3, attr = 5; OpDef: name = 1. */
function readFunction(file: WireFile, span: Span): [string, LibraryFunction] {
  const [signature] = nested(file, span, 1);
  const [name] = signature ? nested(file, signature, 1) : [];
  const nodes = nested(file, span, 3).flatMap((node) => readNode(file, node));
  const compiles = nested(file, span, 5).some((attribute) => mustCompile(file, attribute));
  return [name ? file.text(name) : '', { compiles, nodes: nodes.map(([, node]) => node) }];
}

/** An entry of `map<string, AttrValue>`: key = 1, value = 2; AttrValue: b = 5. */
function mustCompile(file: WireFile, attribute: Span): boolean {
  const [key] = nested(file, attribute, 1);
  if (!key || file.text(key) !== MUST_COMPILE) return false;
  return nested(file, attribute, 2).some((value) =>
    [...file.fields(value)].some(({ number, varint }) => number === 5 && varint === 1n),
  );
}

/** Constants are passed over: they are large, and nothing hangs on them. */
function readNode(file: WireFile, span: Span): [string, Node][] {
  const [op] = nested(file, span, 2);
  if (op && file.text(op) === 'Const') return [];
  const node = decode(file, NodeDefSchema, span);
  const mark = node.attr[MUST_COMPILE]?.value;
  return [
    [
      node.name,
      {
        writes: WRITES.test(node.op),
        compiles: mark?.case === 'b' && mark.value,
        inputs: node.input.map(nodeOf),
        calls: callsOf(node),
      },
    ],
  ];
}

/** Functions of TF2 are attributes of the nodes that call them, those of TF1 their operation. */
function callsOf({ op, attr }: NodeDef): string[] {
  const named = Object.values(attr).flatMap(({ value }) => {
    if (value.case === 'func') return [value.value.name];
    return value.case === 'list' ? value.value.func.map(({ name }) => name) : [];
  });
  return [op, ...named];
}

/** `^name` waits for it; `name:0` is one of its outputs. */
function nodeOf(input: string): string {
  return input.replace(/^\^/, '').split(':', 1)[0] ?? '';
}

function nested(file: WireFile, span: Span, number: number) {
  return [...file.fields(span)].filter(
    (field) => field.number === number && field.wireType === LENGTH_DELIMITED,
  );
}
