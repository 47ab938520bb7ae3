/**
 * Signatures whose run changes the model (training steps, counters, batch normalization in training mode), those
 * that XLA must compile, and those whose cost depends on values.
 */
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import { withSavedModel, withSavedModelInTurns } from './saved-model-file.ts';
import { nested, servedMetaGraph } from './served-meta-graph.ts';
import { LENGTH_DELIMITED, type Span, type WireFile } from './wire-file.ts';

/** A signature by the names of its output tensors, as an inspected one has them. */
export interface SignatureOutputs {
  readonly outputs: Readonly<Record<string, { readonly tensorName: string }>>;
}

/**
 * Operations that write variables (the state of random generators among them), tables, queues, what is staged, datasets that are
 * read on, or files. `ScatterNd` alone makes a tensor.
 */
const WRITES = new RegExp(
  `^(?:${[
    'Assign',
    'Resource(?:Sparse)?Apply',
    '(?:Sparse)?Apply',
    'ResourceScatter',
    'ResourceStridedSliceAssign',
    'StridedSliceAssign',
    'Scatter(?!Nd$|NdNonAliasing)',
    '(?:Resource)?CountUpTo',
    'LookupTable(?:Insert|Import|Remove)',
    'Queue(?:Enqueue|Dequeue|Close)',
    'Stack(?:Push|Pop)',
    'Barrier(?:InsertMany|TakeMany|Close)',
    '(?:OrderedMap|Map)?(?:Stage|Unstage|Clear)$',
    '(?:OrderedMap|Map)(?:UnstageNoKey|Clear)$',
    '(?:Resource)?(?:Conditional)?Accumulator(?:Apply|Take|Set)',
    '(?:Resource|Sparse)Accumulator',
    'IteratorGetNext',
    'RngSkip|RngReadAndSkip|NonDeterministicInts|Stateful(?:Uniform|StandardNormal|Truncated|RandomBinomial)',
    'Reader(?:Read|Reset|Restore)',
    'PyFunc|EagerPyFunc',
    'WriteFile|Save(?:V2|Slices)?$|(?:Write|Create|Flush|Close).*Summary',
  ].join('|')})`,
);

/**
 * Operations whose work the shapes of their inputs decide, and whose results are no larger than these make them: no loops,
 * no sizes from values, no texts. Calls of functions are looked into.
 */
const STEADY = new RegExp(
  `^(?:${[
    'Placeholder(?:WithDefault)?|Const|NoOp|Identity(?:N)?|StopGradient|Shape|Size|Rank|Cast',
    'VarHandleOp|ReadVariableOp|DisableCopyOnRead|VariableV2|(?:Stateful)?PartitionedCall',
    'Add(?:V2|N)?|BiasAdd|Sub|Mul|RealDiv|DivNoNan|Maximum|Minimum|SquaredDifference',
    'Neg|Abs|Sign|Exp|Expm1|Log|Log1p|Sqrt|Rsqrt|Square|Floor|Ceil|Round|Erf',
    'Relu6?|LeakyRelu|Elu|Selu|Softplus|Softsign|Sigmoid|Tanh|(?:Log)?Softmax',
    'MatMul|BatchMatMul(?:V[23])?|Conv[123]D|DepthwiseConv2dNative|MaxPool|AvgPool|FusedBatchNorm(?:V[23])?',
    'Mean|Sum|Max|Min|Prod|Any|All|ArgMax|ArgMin|Reshape|Squeeze|ExpandDims|Transpose',
    'Pack|Unpack|ConcatV2|Split|SplitV|Slice|StridedSlice|GatherV2|ResourceGather|Select(?:V2)?',
    'Greater(?:Equal)?|Less(?:Equal)?|Equal|NotEqual|LogicalAnd|LogicalOr|LogicalNot',
  ].join('|')})$`,
);

/**
 * Operations that may never end, whatever the shapes are: loops, what waits for others, and datasets, which may repeat. TensorFlow
 * ends them where a run has a deadline.
 */
const ENDLESS = new RegExp(
  `^(?:${[
    '(?:Stateless)?While|LoopCond|For|(?:Ref)?NextIteration',
    '.*Dataset|.*Iterator',
    'Queue(?:Enqueue|Dequeue)',
    'Barrier|(?:OrderedMap|Map)?(?:Stage|Unstage)',
    '.*AccumulatorTakeGradient|Reader(?:Read|Num)',
    'MapDefun|Recv|_Recv|MutexLock',
  ].join('|')})`,
);

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
  /** Not known to cost the same for all values of a shape. */
  readonly varies: boolean;
  /** May run for ever. */
  readonly isEndless: boolean;
}

interface LibraryFunction {
  readonly compiles: boolean;
  /** Read when it is asked for: most functions of a SavedModel are called by no signature. */
  readonly nodes: () => Steps<readonly Node[]>;
}

interface Graph {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly functions: ReadonlyMap<string, LibraryFunction>;
}

type Signatures = Readonly<Record<string, SignatureOutputs>>;

/** Nodes that are read in one go: some milliseconds. */
const NODES_A_TURN = 256;

/**
 * The keys of the signatures that write what other requests read, of the MetaGraph that is served.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, or the file system's error
 */
export function writingSignatures(directory: string, signatures: Signatures): ReadonlySet<string> {
  return withSavedModel(directory, (file) => signaturesThat('writes', file, signatures));
}

/** As {@link writingSignatures}, with the turns of others in between. */
export function writingSignaturesInTurns(
  directory: string,
  signatures: Signatures,
): Promise<ReadonlySet<string>> {
  return withSavedModelInTurns(directory, (file) => signaturesThat('writes', file, signatures));
}

/** Keys of signatures by what their runs may take. */
export interface SignatureCosts {
  /** May cost more for some values than for others of the same shapes. */
  readonly varying: ReadonlySet<string>;
  /** May never end. */
  readonly endless: ReadonlySet<string>;
}

/**
 * What the signatures of the MetaGraph that is served may cost; with the turns of others in between.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, or the file system's error
 */
export function signatureCostsInTurns(
  directory: string,
  signatures: Signatures,
): Promise<SignatureCosts> {
  return withSavedModelInTurns(directory, function* (file) {
    const graph = yield* readGraph(file);
    return {
      varying: yield* signaturesOf('varies', graph, signatures),
      endless: yield* signaturesOf('isEndless', graph, signatures),
    };
  });
}

/**
 * The keys of the signatures that run a function with `jit_compile=True`, of the MetaGraph that is served.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, or the file system's error
 */
export function compilingSignatures(
  directory: string,
  signatures: Signatures,
): ReadonlySet<string> {
  return withSavedModel(directory, (file) => signaturesThat('compiles', file, signatures));
}

function* signaturesThat(
  trait: keyof Traits,
  file: WireFile,
  signatures: Signatures,
): Steps<ReadonlySet<string>> {
  return yield* signaturesOf(trait, yield* readGraph(file), signatures);
}

function* signaturesOf(
  trait: keyof Traits,
  graph: Graph,
  signatures: Signatures,
): Steps<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const [key, { outputs }] of Object.entries(signatures)) {
    if (yield* reaches(trait, graph, Object.values(outputs))) keys.add(key);
  }
  return keys;
}

function* reaches(
  trait: keyof Traits,
  graph: Graph,
  outputs: readonly { readonly tensorName: string }[],
): Steps<boolean> {
  const waiting = outputs.map(({ tensorName }) => nodeOf(tensorName));
  const seen = new Set(waiting);
  const called = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const node = graph.nodes.get(name);
    if (!node) continue;
    if (node[trait] || (yield* functionsReach(trait, graph, node.calls, called))) return true;
    for (const input of node.inputs) {
      if (seen.has(input)) continue;
      seen.add(input);
      waiting.push(input);
    }
  }
  return false;
}

/** @param called functions that were looked at before */
function* functionsReach(
  trait: keyof Traits,
  graph: Graph,
  names: readonly string[],
  called: Set<string>,
): Steps<boolean> {
  const waiting = [...names];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const fn = called.has(next) ? undefined : graph.functions.get(next);
    called.add(next);
    if (!fn) continue;
    if (trait === 'compiles' && fn.compiles) return true;
    for (const node of yield* fn.nodes()) {
      if (node[trait]) return true;
      for (const call of node.calls) waiting.push(call);
    }
  }
  return false;
}

/** MetaGraphDef: graph_def = 2; GraphDef: node = 1, library = 2; function = 1. */
function* readGraph(file: WireFile): Steps<Graph> {
  const served = servedMetaGraph(file);
  const [graph] = served ? nested(file, served, 2) : [];
  if (!graph) return { nodes: new Map(), functions: new Map() };
  const functions = new Map<string, LibraryFunction>();
  for (const span of nested(file, graph, 2).flatMap((library) => nested(file, library, 1))) {
    functions.set(...readFunction(file, span));
    yield;
  }
  return { nodes: new Map(yield* readNodes(file, graph, 1)), functions };
}

/** FunctionDef: signature = 1, node_def = 3, attr = 5; OpDef: name = 1. */
function readFunction(file: WireFile, span: Span): [string, LibraryFunction] {
  const [signature] = nested(file, span, 1);
  const [name] = signature ? nested(file, signature, 1) : [];
  let known: readonly Node[] | undefined;
  function* nodes(): Steps<readonly Node[]> {
    known ??= (yield* readNodes(file, span, 3)).map(([, node]) => node);
    return known;
  }
  const compiles = nested(file, span, 5).some((one) => readAttribute(file, one).compiles);
  return [name ? file.text(name) : '', { compiles, nodes }];
}

function* readNodes(file: WireFile, graph: Span, number: number): Steps<[string, Node][]> {
  const isTime = pauseAfter(NODES_A_TURN);
  const nodes: [string, Node][] = [];
  for (const field of file.fields(graph)) {
    if (isTime(1)) yield;
    if (field.number !== number || field.wireType !== LENGTH_DELIMITED) continue;
    nodes.push(...readNode(file, field));
  }
  return nodes;
}

/**
 * NodeDef: name = 1, op = 2, input = 3, attr = 5. Functions of TF2 are attributes of the nodes that call them, those of TF1
 * their operation. Constants are passed over: they are large, and nothing hangs on them.
 */
function readNode(file: WireFile, span: Span): [string, Node][] {
  let [name, op] = ['', ''];
  const [inputs, calls]: [string[], string[]] = [[], []];
  let compiles = false;
  for (const field of file.fields(span)) {
    if (field.wireType !== LENGTH_DELIMITED) continue;
    if (field.number === 1) name = file.text(field);
    if (field.number === 3) inputs.push(nodeOf(file.text(field)));
    if (field.number === 2) {
      op = file.text(field);
      if (op === 'Const') return [];
    }
    if (field.number === 5) {
      const attribute = readAttribute(file, field);
      compiles ||= attribute.compiles;
      for (const call of attribute.calls) calls.push(call);
    }
  }
  const traits = {
    writes: WRITES.test(op),
    compiles,
    varies: !STEADY.test(op),
    isEndless: ENDLESS.test(op),
  };
  return [[name, { ...traits, inputs, calls: [op, ...calls] }]];
}

/**
 * An entry of `map<string, AttrValue>`: key = 1, value = 2; AttrValue: list = 1, b = 5, func = 10; ListValue: func = 9;
 * NameAttrList: name = 1.
 */
function readAttribute(file: WireFile, span: Span): Pick<Node, 'compiles' | 'calls'> {
  const [key] = nested(file, span, 1);
  const [value] = nested(file, span, 2);
  const fields = value ? [...file.fields(value)] : [];
  const functions = fields.flatMap((field) => {
    if (field.wireType !== LENGTH_DELIMITED) return [];
    return field.number === 10 ? [field] : field.number === 1 ? nested(file, field, 9) : [];
  });
  const isTrue = fields.some(({ number, varint }) => number === 5 && varint === 1n);
  return {
    calls: functions.flatMap((one) => nested(file, one, 1).map((name) => file.text(name))),
    compiles: isTrue && key !== undefined && file.text(key) === MUST_COMPILE,
  };
}

/** `^name` waits for it; `name:0` is one of its outputs. */
function nodeOf(input: string): string {
  return input.replace(/^\^/, '').split(':', 1)[0] ?? '';
}
