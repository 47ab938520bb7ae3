/** `{"x": [1, 2]}` in, `{"halves": [3.5, 4]}` out, and both declared: `inspect --openapi` has them. */
import {
  type Context,
  HttpError,
  isNumeric,
  numericTensor,
  parseJson,
  toNumbers,
} from 'sagemaker-tfs/handler';
import * as z from 'zod';

const request = z.object({
  x: z
    .array(z.number())
    .min(1)
    .meta({ examples: [[1, 2]] }),
});
const answer = z.object({ halves: z.array(z.number()) });

export const openapi = { request, answer };

export async function handler(data: Uint8Array, context: Context): Promise<z.infer<typeof answer>> {
  const asked = request.safeParse(parseJson(data));
  if (!asked.success) throw new HttpError(422, z.prettifyError(asked.error), { code: 'BAD_BODY' });
  const { x } = asked.data;
  const { y } = await context.predict({
    x: numericTensor('float32', [x.length, 1], Float32Array.from(x)),
  });
  if (!y || !isNumeric(y)) throw new Error('no y');
  return { halves: Array.from(toNumbers(y), Number) };
}
