/** Inputs and outputs of a signature. */
import type { SignatureDescription, TensorDescription } from './description.ts';

/** Each by name, dtype and shape. */
export function SignatureView({
  signature,
}: {
  readonly signature: SignatureDescription | undefined;
}) {
  if (!signature) return <p class="quiet">The model has no such signature.</p>;
  return (
    <table class="signature">
      <caption>Signature</caption>
      <tbody>
        <Rows kind="in" tensors={signature.inputs} />
        <Rows kind="out" tensors={signature.outputs} />
      </tbody>
    </table>
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
        <tr key={name}>
          <td class="quiet">{kind}</td>
          <th scope="row">{name}</th>
          <td>
            <code>
              {tensor.dtype} {shapeText(tensor.shape)}
            </code>
          </td>
        </tr>
      ))}
    </>
  );
}

/** `[N, 28, 28, 1]`: N for the first size where any is taken, ? for others. */
export function shapeText(shape: readonly number[] | null): string {
  if (!shape) return '[…]';
  return `[${shape.map((size, at) => (size >= 0 ? size : at === 0 ? 'N' : '?')).join(', ')}]`;
}
