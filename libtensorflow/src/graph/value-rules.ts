/** How operations pass on what the values of a request decide, and where they make sizes of it. */

/** The values of a request may make a number as large as they like. */
const HIGH = 1;
/** The same downwards: below zero, near zero. */
const LOW = 2;
/** They choose it, within bounds that shapes and the model set. */
export const CHOSEN = 4;
/** Values of a request themselves. */
export const FREE = HIGH | LOW | CHOSEN;

/** What of {@link FREE} holds of a tensor; 0: the values of a request have no part in it. */
export type Marks = number;

/** An operation's mark, from those of its inputs. */
type Passes = (inputs: readonly Marks[]) => Marks;

const any: Passes = (inputs) => inputs.reduce((all, mark) => all | mark, 0);
const chosen: Passes = (inputs) => (any(inputs) === 0 ? 0 : CHOSEN);
const free: Passes = (inputs) => (any(inputs) === 0 ? 0 : FREE);
/** Of bounded numbers arithmetic makes bounded ones. */
const computed: Passes = (inputs) => (any(inputs) & (HIGH | LOW) ? FREE : any(inputs));
/** Of a number near zero it makes one as large as one likes. */
const divided: Passes = (inputs) => (inputs[1] ? FREE : computed(inputs));
/** Parts of the first input, which the others choose. */
const part: Passes = ([data = 0, ...others]) => data | chosen(others);
const boundedBy = (bound: Marks): Passes =>
  function bounded(inputs) {
    return any(inputs) & ~(inputs.every((mark) => mark & bound) ? 0 : bound);
  };

const named = (...names: string[]) => new RegExp(`^(?:${names.join('|')})$`);

/** The first that fits counts. Other operations are not known: they may do anything with the values that they get. */
const PASSES: readonly (readonly [RegExp, Passes])[] = [
  // Shapes: no values make them unseen, as the operations that do so are found themselves.
  [
    named(
      'Shape(?:N)?|Size|Rank|VariableShape|ZerosLike|OnesLike|TensorArraySize(?:V[23])?',
      'TensorList(?:Length|ElementShape)',
    ),
    () => 0,
  ],
  [
    named(
      'Greater(?:Equal)?|Less(?:Equal)?|(?:Approximate|Not)?Equal|Logical(?:And|Or|Not)|Any|All|Sign|Sigmoid|Tanh|Softmax',
      'Is(?:Nan|Inf|Finite)|Erfc?|Sin|Cos|Atan2?|InTopK(?:V2)?|ArgMax|ArgMin|Where|Bucketize|LookupTableSize(?:V2)?|Relu6',
      'NonMaxSuppression(?:V[234])?|NonMaxSuppressionWithOverlaps|DenseBincount|Bincount|UnicodeScript|StringLength',
      'StringToHashBucket(?:Fast|Strong)?|(?:Static)?RegexFullMatch|LowerBound|UpperBound|(?:Stateless)?Multinomial',
      'TensorListReserve|Empty(?:TensorList)?',
    ),
    chosen,
  ],
  [named('Minimum'), boundedBy(HIGH)],
  [named('Maximum'), boundedBy(LOW)],
  [named('Relu'), (inputs) => any(inputs) & ~LOW],
  [named('LookupTableFind(?:V2)?'), ([, keys = 0, other = 0]) => chosen([keys]) | other],
  [named('OneHot'), ([indices = 0, , on = 0, off = 0]) => chosen([indices]) | on | off],
  [named('Select(?:V2)?'), ([condition = 0, a = 0, b = 0]) => chosen([condition]) | a | b],
  [
    named(
      'Gather(?:V2|Nd)?|ResourceGather(?:Nd)?|Slice|StridedSlice|(?:Ref)?Switch|DynamicPartition',
    ),
    part,
  ],
  [
    named(
      'Identity(?:N)?|Snapshot|StopGradient|PreventGradient|Reshape|Squeeze|ExpandDims|Transpose|Pack|Unpack|Concat(?:V2)?',
      'Split(?:V)?|Merge|RefMerge|Enter|Exit|NextIteration|LoopCond|Reverse(?:V2)?|ReverseSequence|Tile|BroadcastTo|Fill',
      'Max|Min|Roll|Pad|PadV2|MirrorPad|TensorArray.*|TensorList.*|CheckNumerics(?:V2)?|EnsureShape|DynamicStitch',
      'ParallelDynamicStitch|ScatterNd|TensorScatter(?:Update|Max|Min)|SparseToDense|TopK(?:V2)?|Unique(?:WithCounts)?(?:V2)?',
      'Floor|Ceil|Round|Rint|ReadVariableOp|GuaranteeConst|Assert|Print(?:V2)?|StringFormat|NoOp|ControlTrigger|RandomShuffle',
      'BroadcastArgs|BroadcastGradientArgs|ConcatOffset|InvertPermutation|ListDiff|UnravelIndex|DeepCopy|DisableCopyOnRead',
      'Placeholder(?:WithDefault|V2)?|VarHandleOp|VarIsInitializedOp|Variable(?:V2)?|(?:Mutable)?HashTable(?:V2)?|DestroyResourceOp',
    ),
    any,
  ],
  [named('(?:Real|Floor|Truncate)?Div|DivNoNan|Xdivy'), divided],
  [
    named(
      'Pow|Exp|Expm1|Log|Log1p|LogSoftmax|Rsqrt|Reciprocal|Inv|Prod|Cumprod|Sinh|Cosh|Tan|Atanh|Lgamma|Digamma|Erfinv|Ndtri',
      'Xlogy|Xlog1py|Betainc|Igammac?|Zeta|Polygamma|Bessel.*|Matrix(?:Determinant|Inverse|Solve|TriangularSolve)|Cholesky|Qr|Svd',
      'SelfAdjointEigV2|Lu|StringToNumber|Bitcast|Bitwise(?:And|Or|Xor)|Decode(?:Raw|PaddedRaw|CSV|JSONExample|Base64|Compressed)',
      'Parse(?:Single)?(?:Sequence)?Example(?:V2)?|CumulativeLogsumexp',
      // The values of random numbers have bounds of their own where a request does not set them.
      '(?:Stateless)?(?:Parameterized)?(?:Random(?:StandardNormal|Normal|Uniform(?:Full)?(?:Int)?|Gamma|Poisson)|TruncatedNormal)(?:V[23])?',
    ),
    free,
  ],
  [
    named(
      'Add(?:V2|N)?|AccumulateNV2|BiasAdd(?:V1)?|Sub|Mul|MulNoNan|(?:Floor|Truncate)?Mod|Neg|Abs|Square|Cast|Sqrt|Softplus',
      'SquaredDifference|Elu|Selu|LeakyRelu|Softsign|Sum|Mean|EuclideanNorm|Cumsum|(?:Batch)?MatMul(?:V[23])?|SparseMatMul',
      'Einsum|Cross|L2Loss|LRN|Asin|Acos|Asinh|Acosh|ClipByValue|LinSpace|Range|NextAfter|Conv|Conv[123]D',
      'Conv[23]DBackpropInput(?:V2)?|DepthwiseConv2dNative(?:BackpropInput)?|Dilation2D|CombinedNonMaxSuppression',
      'NonMaxSuppressionV5|(?:Max|Avg)Pool(?:3D|V2)?|MaxPoolWithArgmax|FractionalMaxPool|FractionalAvgPool',
      'FusedBatchNorm(?:V[23])?|BatchNormWithGlobalNormalization|Quantize.*|Dequantize|FakeQuant.*',
      'Resize(?:Bilinear|NearestNeighbor|Bicubic|Area)|ScaleAndTranslate|CropAndResize|ExtractGlimpse(?:V2)?',
      'ExtractImagePatches|ExtractVolumePatches|DrawBoundingBoxes(?:V2)?|ImageProjectiveTransformV[23]|RGBToHSV|HSVToRGB',
      'Adjust(?:Contrast(?:v2)?|Hue|Saturation)|DepthToSpace|SpaceToDepth|SpaceToBatch(?:ND)?|BatchToSpace(?:ND)?',
      'MatrixBandPart|Matrix(?:Set)?Diag(?:Part)?(?:V[23])?|Diag(?:Part)?|I?R?FFT(?:[23]D)?|Complex(?:Abs)?|Real|Imag|Conj|Angle',
      'UnsortedSegment.*|Segment.*|SparseSegment.*|TensorScatter(?:Add|Sub)|NthElement|ExtractJpegShape|EncodeBase64|AsString',
      'Decode(?:Jpeg|Png|Bmp|Gif|Image|AndCropJpeg|Wav|WebP)|Encode(?:Jpeg|JpegVariableQuality|Png|Wav)|Substr|ReduceJoin',
      'String(?:Split(?:V2)?|Join|Lower|Upper|Strip|NGrams)|(?:Static)?RegexReplace|Unicode(?:Decode|DecodeWithOffsets|Encode|Transcode)',
    ),
    computed,
  ],
];

/** Inputs of an operation that set sizes. Where it matters that they are not near zero either, `exactly`. */
interface Sizes {
  readonly at: readonly number[] | 'all';
  readonly exactly?: true;
}

const at = (...inputs: number[]): Sizes => ({ at: inputs });

/** Operations whose outputs may be far larger than what they are made of. */
const SIZES: readonly (readonly [RegExp, Sizes])[] = [
  [named('Range|LinSpace'), { at: 'all', exactly: true }],
  [named('Fill|Empty', '(?:Stateless)?(?:Parameterized)?(?:Random|Truncated)(?!Shuffle).*'), at(0)],
  [
    named('TensorArray(?:V[23])?|Conv[23]DBackpropInput(?:V2)?|DepthwiseConv2dNativeBackpropInput'),
    at(0),
  ],
  // The greatest place sets the size.
  [named('DynamicStitch|ParallelDynamicStitch'), { at: 'all' }],
  [
    named(
      'SparseToDense|TensorListReserve|TensorListResize|TensorListSetItem|TensorArray(?:Write|Scatter).*',
    ),
    at(1),
  ],
  [
    named(
      'Tile|BroadcastTo|(?:Quantized)?Reshape|OneHot|(?:Quantized)?Resize.*|ScaleAndTranslate|ExtractGlimpse(?:V2)?|.*Multinomial',
    ),
    at(1),
  ],
  [
    named(
      '(?:Mirror)?Pad(?:V2)?|SpaceToBatch|BatchToSpace(?:ND)?|.*R?FFT[23]?D?|Bincount|DenseBincount|Segment.*',
    ),
    at(1),
  ],
  [
    named('SpaceToBatchND|TensorListScatter.*|DecodePaddedRaw|ImageProjectiveTransform.*'),
    at(1, 2),
  ],
  [named('ScatterNd|UnsortedSegment.*|SparseSegment.*|NonMaxSuppressionV[45]'), at(2, 3)],
  [named('CombinedNonMaxSuppression'), at(2, 3)],
  [named('CropAndResize'), at(3)],
  [named('MatrixDiagV[23]'), at(1, 2, 3)],
  // A few bytes of a picture or a compressed text say how large it is.
  [named('Decode(?:Jpeg|Png|Bmp|Gif|Image|AndCropJpeg|WebP|Compressed)'), at(0)],
  // A loop may add to a tensor each time around.
  [named('LoopCond'), { at: [0], exactly: true }],
];

/** The mark of an operation's outputs; undefined if the operation is not known. */
export function passedOn(op: string, inputs: readonly Marks[]): Marks | undefined {
  return PASSES.find(([names]) => names.test(op))?.[1](inputs);
}

/** Whether the values of a request set the size of what the operation makes, as far as this is known of it. */
export function setsSize(op: string, inputs: readonly Marks[]): boolean {
  return SIZES.some(([names, sizes]) => {
    if (!names.test(op)) return false;
    const sizing = sizes.at === 'all' ? inputs : sizes.at.map((index) => inputs[index] ?? 0);
    // A loop's condition is one of two; any other number is of no harm if it has an upper bound.
    const harm = op === 'LoopCond' ? FREE : sizes.exactly ? HIGH | LOW : HIGH;
    return sizing.some((mark) => mark & harm);
  });
}
