/**
 * Signatures whose run changes the model (training steps, counters, batch normalization in training mode), those
 * that XLA must compile, and those whose cost depends on values.
 */
import type { Steps } from '@sagemaker-tfs/tensors/steps';
import { type GraphNode, type GraphNodes, nodeOf, readGraph } from './graph-nodes.ts';
import { withSavedModel, withSavedModelInTurns } from './saved-model-file.ts';
import type { WireFile } from './wire-file.ts';

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

/** What is asked of a node. */
const TRAITS = {
  writes: ({ op }: GraphNode) => WRITES.test(op),
  compiles: ({ compiles }: GraphNode) => compiles,
  /** Not known to cost the same for all values of a shape. */
  varies: ({ op }: GraphNode) => !STEADY.test(op),
  /** May run for ever. */
  isEndless: ({ op }: GraphNode) => ENDLESS.test(op),
} as const;

type Trait = keyof typeof TRAITS;

type Signatures = Readonly<Record<string, SignatureOutputs>>;

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
  trait: Trait,
  file: WireFile,
  signatures: Signatures,
): Steps<ReadonlySet<string>> {
  return yield* signaturesOf(trait, yield* readGraph(file), signatures);
}

function* signaturesOf(
  trait: Trait,
  graph: GraphNodes,
  signatures: Signatures,
): Steps<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const [key, { outputs }] of Object.entries(signatures)) {
    if (yield* reaches(trait, graph, Object.values(outputs))) keys.add(key);
  }
  return keys;
}

function* reaches(
  trait: Trait,
  graph: GraphNodes,
  outputs: readonly { readonly tensorName: string }[],
): Steps<boolean> {
  const waiting = outputs.map(({ tensorName }) => nodeOf(tensorName));
  const seen = new Set(waiting);
  const called = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const node = graph.nodes.get(name);
    if (!node) continue;
    if (TRAITS[trait](node) || (yield* functionsReach(trait, graph, callsOf(node), called)))
      return true;
    for (const written of node.inputs) {
      const input = nodeOf(written);
      if (seen.has(input)) continue;
      seen.add(input);
      waiting.push(input);
    }
  }
  return false;
}

/** @param called functions that were looked at before */
function* functionsReach(
  trait: Trait,
  graph: GraphNodes,
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
      if (TRAITS[trait](node)) return true;
      for (const call of callsOf(node)) waiting.push(call);
    }
  }
  return false;
}

/** Functions of TF2 are attributes of the nodes that call them, those of TF1 their operation. */
function callsOf({ op, calls }: GraphNode): string[] {
  return [op, ...calls.map(({ name }) => name)];
}
