/** Inputs and outputs of a signature. */
import { openShapeText } from '@sagemaker-tfs/tensors';
import type { SignatureDescription, TensorDescription } from './description.ts';

/** Each by name, dtype and shape. */
export function SignatureView({
  signature,
}: {
  readonly signature: SignatureDescription | undefined;
}) {
  if (!signature) return <p class="quiet">The model has no such signature.</p>;
  return (
    <>
      <h2>Signature</h2>
      <ul class="signature">
        <Rows kind="in" tensors={signature.inputs} />
        <Rows kind="out" tensors={signature.outputs} />
      </ul>
    </>
  );
}

interface RowsProps {
  readonly kind: string;
  readonly tensors: Readonly<Record<string, TensorDescription>>;
}

function Rows({ kind, tensors }: RowsProps) {
  return (
    <>
      {Object.entries(tensors).map(([name, tensor]) => (
        <li key={name}>
          <span class="quiet">{kind}</span>
          <b>{name}</b>
          <code>{typeText(tensor)}</code>
        </li>
      ))}
    </>
  );
}

/** `float32 [N,28,28,1]`, as `inspect` writes it. */
export function typeText({ dtype, shape }: TensorDescription): string {
  return `${dtype} ${shape ? openShapeText(shape, ',') : '[...]'}`;
}
