/** The nodes and functions of a graph, as the readers of graphs here need them: without constants and devices. */
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import { nested, servedMetaGraph } from './served-meta-graph.ts';
import { LENGTH_DELIMITED, type Span, type WireFile } from './wire-file.ts';

/** A node; constants are left out. */
export interface GraphNode {
  readonly name: string;
  readonly op: string;
  /** As they are written: `node`, `node:1`, in functions `node:output:1`. It only waits for `^node`. */
  readonly inputs: readonly string[];
  /** Functions that its attributes name. Those of TF1 are its operation. */
  readonly calls: readonly CalledFunction[];
  /** Marked by `tf.function(jit_compile=True)`. */
  readonly compiles: boolean;
}

/** A function that a node names. */
export interface CalledFunction {
  readonly attribute: string;
  readonly name: string;
}

/** A function of the graph's library. */
export interface GraphFunction {
  /** Marked by `tf.function(jit_compile=True)`. */
  readonly compiles: boolean;
  /** Names of its arguments, and what of its nodes it returns, as an input is written. */
  readonly signature: () => {
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
  };
  /** Read when it is asked for: most functions of a SavedModel are called by no signature. */
  readonly nodes: () => Steps<readonly GraphNode[]>;
}

/** The graph of the MetaGraph that is served. */
export interface GraphNodes {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly functions: ReadonlyMap<string, GraphFunction>;
}

/** TensorFlow's kXlaMustCompileAttr (compiler/tf2xla/tf2xla_defs.cc), of nodes and of functions. */
const MUST_COMPILE = '_XlaMustCompile';

/** Nodes that are read in one go: some milliseconds. */
const NODES_A_TURN = 256;

const NO_CALLS: readonly CalledFunction[] = [];

/** MetaGraphDef: graph_def = 2; GraphDef: node = 1, library = 2; function = 1. @throws DamagedFile */
export function* readGraph(file: WireFile): Steps<GraphNodes> {
  const served = servedMetaGraph(file);
  const [graph] = served ? nested(file, served, 2) : [];
  if (!graph) return { nodes: new Map(), functions: new Map() };
  const functions = new Map<string, GraphFunction>();
  for (const span of nested(file, graph, 2).flatMap((library) => nested(file, library, 1))) {
    functions.set(...readFunction(file, span));
    yield;
  }
  const nodes = yield* readNodes(file, graph, 1);
  return { nodes: new Map(nodes.map((node) => [node.name, node])), functions };
}

/** The name of the node in how an input is written. */
export function nodeOf(input: string): string {
  const start = input.startsWith('^') ? 1 : 0;
  const colon = input.indexOf(':');
  return input.slice(start, colon === -1 ? undefined : colon);
}

/** FunctionDef: signature = 1, node_def = 3, ret = 4, attr = 5; OpDef: name = 1, input_arg = 2, output_arg = 3. */
function readFunction(file: WireFile, span: Span): [string, GraphFunction] {
  const [signature] = nested(file, span, 1);
  const text = (message: Span | undefined, number: number) => {
    const [found] = message ? nested(file, message, number) : [];
    return found ? file.text(found) : '';
  };
  const names = (number: number) =>
    signature ? nested(file, signature, number).map((argument) => text(argument, 1)) : [];
  let known: readonly GraphNode[] | undefined;
  function* nodes(): Steps<readonly GraphNode[]> {
    known ??= yield* readNodes(file, span, 3);
    return known;
  }
  const compiles = nested(file, span, 5).some((one) => readAttribute(file, one).compiles);
  return [
    text(signature, 1),
    {
      compiles,
      signature() {
        const returned = new Map(
          nested(file, span, 4).map((entry) => [text(entry, 1), text(entry, 2)]),
        );
        return { inputs: names(2), outputs: names(3).map((name) => returned.get(name) ?? '') };
      },
      nodes,
    },
  ];
}

function* readNodes(file: WireFile, graph: Span, number: number): Steps<GraphNode[]> {
  const isTime = pauseAfter(NODES_A_TURN);
  const nodes: GraphNode[] = [];
  for (const field of file.fields(graph)) {
    if (isTime(1)) yield;
    if (field.number !== number || field.wireType !== LENGTH_DELIMITED) continue;
    const node = readNode(file, field);
    if (node) nodes.push(node);
  }
  return nodes;
}

/**
 * NodeDef: name = 1, op = 2, input = 3, attr = 5. Constants are passed over: they are large, and nothing hangs on them.
 */
function readNode(file: WireFile, span: Span): GraphNode | undefined {
  let [name, op] = ['', ''];
  const inputs: string[] = [];
  let calls = NO_CALLS;
  let compiles = false;
  for (const field of file.fields(span)) {
    if (field.wireType !== LENGTH_DELIMITED) continue;
    if (field.number === 1) name = file.text(field);
    if (field.number === 3) inputs.push(file.text(field));
    if (field.number === 2) {
      op = file.text(field);
      if (op === 'Const') return undefined;
    }
    if (field.number === 5) {
      const attribute = readAttribute(file, field);
      compiles ||= attribute.compiles;
      if (attribute.calls.length > 0) calls = [...calls, ...attribute.calls];
    }
  }
  return { name, op, inputs, calls, compiles };
}

/**
 * An entry of `map<string, AttrValue>`: key = 1, value = 2; AttrValue: list = 1, b = 5, func = 10; ListValue: func = 9;
 * NameAttrList: name = 1.
 */
function readAttribute(file: WireFile, span: Span): Pick<GraphNode, 'compiles' | 'calls'> {
  const [key] = nested(file, span, 1);
  const [value] = nested(file, span, 2);
  const fields = value ? [...file.fields(value)] : [];
  const functions = fields.flatMap((field) => {
    if (field.wireType !== LENGTH_DELIMITED) return [];
    return field.number === 10 ? [field] : field.number === 1 ? nested(file, field, 9) : [];
  });
  const isTrue = fields.some(({ number, varint }) => number === 5 && varint === 1n);
  if (!key || (functions.length === 0 && !isTrue)) return { calls: NO_CALLS, compiles: false };
  const attribute = file.text(key);
  return {
    calls: functions.flatMap((one) =>
      nested(file, one, 1).map((name) => ({ attribute, name: file.text(name) })),
    ),
    compiles: isTrue && attribute === MUST_COMPILE,
  };
}
