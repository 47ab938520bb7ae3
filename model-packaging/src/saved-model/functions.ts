/** The functions that a TF2 SavedModel offers to Python callers, as `saved_model_cli show --all` lists them. */
import { dtypeOfEnum, enumName } from '@sagemaker-tfs/tensors';
import {
  type SavedObject,
  type SavedObjectGraph,
  SavedObjectGraphSchema,
  type StructuredValue,
  type TensorShapeProto,
} from '@sagemaker-tfs/tensors/protos';
import { decode } from './decode.ts';
import type { Span, WireFile } from './wire.ts';

/** One function of the model object. */
export interface FunctionSummary {
  /** Attribute of the Python object. */
  readonly name: string;
  /** One for each traced variant: its arguments as Python prints them, keyword arguments by name. */
  readonly options: readonly FunctionOption[];
}

/** The arguments of one traced variant. */
interface FunctionOption {
  readonly arguments: readonly string[];
  readonly namedArguments: readonly string[];
}

/** Decodes the object graph in `span`. */
export function readFunctions(file: WireFile, span: Span): FunctionSummary[] {
  const graph = decode(file, SavedObjectGraphSchema, span);
  const root = graph.nodes[0];
  if (!root) return [];
  return [...root.children]
    .sort((a, b) => (a.localName < b.localName ? -1 : 1))
    .flatMap(({ localName, nodeId }) => {
      const options = optionsOf(graph.nodes[nodeId], graph);
      return options ? [{ name: localName, options }] : [];
    });
}

function optionsOf(
  object: SavedObject | undefined,
  graph: SavedObjectGraph,
): FunctionOption[] | undefined {
  if (object?.kind.case === 'function') {
    const names = [...object.kind.value.concreteFunctions].sort();
    return names.map((name) =>
      optionOf(graph.concreteFunctions[name]?.canonicalizedInputSignature),
    );
  }
  if (object?.kind.case === 'bareConcreteFunction') {
    const { concreteFunctionName, argumentKeywords } = object.kind.value;
    const concrete = graph.concreteFunctions[concreteFunctionName];
    const option = optionOf(concrete?.canonicalizedInputSignature);
    const isEmpty = option.arguments.length + option.namedArguments.length === 0;
    return [isEmpty ? { arguments: argumentKeywords, namedArguments: [] } : option];
  }
  return undefined;
}

/** A canonicalized signature is a tuple of the positional arguments and a dictionary of the named. */
function optionOf(signature: StructuredValue | undefined): FunctionOption {
  if (signature?.kind.case !== 'tupleValue') return { arguments: [], namedArguments: [] };
  const [positional, named] = signature.kind.value.values;
  return {
    arguments: positional ? elements(positional).map(([, value]) => python(value)) : [],
    namedArguments: named ? elements(named).map(([key, value]) => `${key}=${python(value)}`) : [],
  };
}

function elements({ kind }: StructuredValue): [string, StructuredValue][] {
  switch (kind.case) {
    case 'tupleValue':
    case 'listValue':
      return kind.value.values.map((value, i) => [String(i), value]);
    case 'dictValue':
      return Object.entries(kind.value.fields).sort(([a], [b]) => (a < b ? -1 : 1));
    case 'namedTupleValue':
      return kind.value.values.flatMap(({ key, value }) => (value ? [[key, value]] : []));
    default:
      return [];
  }
}

/** A value as Python's repr() prints it. */
function python(value: StructuredValue): string {
  const { kind } = value;
  const items = () => elements(value).map(([, element]) => python(element));
  switch (kind.case) {
    case 'noneValue':
      return 'None';
    case 'boolValue':
      return kind.value ? 'True' : 'False';
    case 'stringValue':
      return `'${kind.value}'`;
    case 'float64Value':
      return Number.isInteger(kind.value) ? kind.value.toFixed(1) : String(kind.value);
    case 'int64Value':
      return String(kind.value);
    case 'tensorDtypeValue':
      return pythonDtype(kind.value);
    case 'tensorShapeValue':
      return pythonShape(kind.value);
    case 'tensorSpecValue': {
      const { name, shape, dtype } = kind.value;
      return `TensorSpec(shape=${pythonShape(shape)}, dtype=${pythonDtype(dtype)}, name='${name}')`;
    }
    case 'typeSpecValue':
      return kind.value.typeSpecClassName;
    case 'listValue':
      return `[${items().join(', ')}]`;
    case 'tupleValue':
      return `(${items().join(', ')}${items().length === 1 ? ',' : ''})`;
    case 'dictValue':
      return `{${elements(value)
        .map(([key, element]) => `'${key}': ${python(element)}`)
        .join(', ')}}`;
    case 'namedTupleValue':
      return `${kind.value.name}(${elements(value)
        .map(([key, element]) => `${key}=${python(element)}`)
        .join(', ')})`;
    default:
      return '?';
  }
}

function pythonDtype(dtype: number): string {
  return `tf.${dtypeOfEnum(dtype) ?? enumName(dtype).replace(/^DT_/, '').toLowerCase()}`;
}

/** `(None, 28, 28)`, `(None,)`, `()`, or `<unknown>`. */
function pythonShape(shape: TensorShapeProto | undefined): string {
  if (!shape || shape.unknownRank) return '<unknown>';
  const sizes = shape.dim.map(({ size }) => (size < 0n ? 'None' : String(size)));
  return `(${sizes.join(', ')}${sizes.length === 1 ? ',' : ''})`;
}
