/** An answer of the endpoint, as something that expectations can look into. */
import {
  decodeNpy,
  parseJson,
  parseJsonDocuments,
  type Tensor,
  toNested,
} from '@sagemaker-tfs/tensors';

/** What InvokeEndpoint gave. */
export interface Reply {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly customAttributes: string;
}

/** A body that was read: a tensor, or any JSON value or text. */
export type Answer =
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  | { readonly kind: 'value'; readonly value: unknown };

/** Reads a body by its media type. @throws where it is not what the type says */
export function readAnswer({ body, contentType }: Reply): Answer {
  const type = contentType.split(';')[0]?.trim();
  if (type === 'application/x-npy') return { kind: 'tensor', tensor: decodeNpy(body) };
  if (type === 'application/json') return { kind: 'value', value: parseJson(body) };
  if (type === 'application/jsonlines') return { kind: 'value', value: parseJsonDocuments(body) };
  return { kind: 'value', value: new TextDecoder().decode(body) };
}

/** An answer as nested lists. */
export function nested(answer: Answer): unknown {
  return answer.kind === 'tensor' ? toNested(answer.tensor) : answer.value;
}
