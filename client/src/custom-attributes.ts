/** What a request may ask of the runtime, as the header that SageMaker hands on. */
import {
  listValue,
  MAX_CUSTOM_ATTRIBUTES,
  requestValue,
  type Transport,
} from '@sagemaker-tfs/tensors/custom-attributes';
import { PredictionError } from './errors/prediction-error.ts';

/** What a request may ask of the runtime. */
export interface RequestAttributes {
  /** How the container reaches its model server. Default: the container's own setting. */
  readonly transport?: Transport;
  /** A model of several in one container. Default: the container's default model. */
  readonly modelName?: string;
  /** Default: the newest. */
  readonly modelVersion?: string | number | bigint;
  /** A version by its label in the model server's configuration. */
  readonly modelLabel?: string;
  /** Default: `predict`. */
  readonly method?: 'predict' | 'classify' | 'regress';
  /** Default: `serving_default`. */
  readonly signature?: string;
  /** The outputs to answer, in this order. Default: all. */
  readonly outputs?: readonly string[];
  /** Asks for `tfs-timings` in the answer's custom attributes. */
  readonly timings?: boolean;
  /**
   * The caller's span (https://www.w3.org/TR/trace-context/), which the runtime's spans belong to: SageMaker drops the
   * header of that name.
   */
  readonly traceparent?: string;
  /** What vendors keep beside `traceparent`. */
  readonly tracestate?: string;
  /** Further attributes, for the endpoint's own handler. */
  readonly others?: Readonly<Record<string, string>>;
}

/**
 * Writes the header; empty if nothing is asked for.
 * @throws PredictionError BAD_OPTION beyond SageMaker's 1024 characters of visible ASCII
 */
export function formatCustomAttributes(attributes: RequestAttributes): string {
  const { outputs, timings, modelVersion, others } = attributes;
  const pairs: [string, string | undefined][] = [
    ['tfs-transport', attributes.transport],
    ['tfs-model-name', attributes.modelName],
    ['tfs-model-version', modelVersion?.toString()],
    ['tfs-model-label', attributes.modelLabel],
    ['tfs-method', attributes.method],
    ['tfs-signature', attributes.signature],
    ['tfs-outputs', outputs?.length ? listValue(outputs) : undefined],
    ['tfs-timings', timings ? '1' : undefined],
    ['traceparent', checkedParent(attributes.traceparent)],
    ['tracestate', attributes.traceparent && attributes.tracestate],
    ...Object.entries(others ?? {}),
  ];
  const header = pairs
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${requestValue(value)}`]))
    .join(',');
  checkCustomAttributes(header);
  return header;
}

/** @throws PredictionError BAD_OPTION for what is no `traceparent` */
function checkedParent(parent: string | undefined): string | undefined {
  if (parent === undefined || /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(parent)) {
    return parent;
  }
  throw new PredictionError(
    'BAD_OPTION',
    `traceparent is ${JSON.stringify(parent)}. Write VERSION-TRACE-SPAN-FLAGS in lower hexadecimal digits, as W3C has it.`,
  );
}

/** @throws PredictionError BAD_OPTION for what SageMaker does not carry */
export function checkCustomAttributes(header: string): void {
  if (header.length > MAX_CUSTOM_ATTRIBUTES) {
    throw new PredictionError(
      'BAD_OPTION',
      `the custom attributes have ${header.length} characters, but SageMaker carries ${MAX_CUSTOM_ATTRIBUTES}. Ask for fewer outputs by name.`,
    );
  }
  const bad = /[^\x20-\x7e]/u.exec(header);
  if (bad) {
    throw new PredictionError(
      'BAD_OPTION',
      `the custom attributes hold ${JSON.stringify(bad[0])} at character ${bad.index}. SageMaker carries printable ASCII only.`,
    );
  }
}
