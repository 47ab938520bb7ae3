/** Looks something up elsewhere first; stops when the client has gone. Needs `networkIsolation: false`. */
import { type Context, type HandlerInput, HttpError, parseJson } from 'sagemaker-tfs/handler';

export async function inputHandler(data: Uint8Array, { signal }: Context): Promise<HandlerInput> {
  const { user } = parseJson(data) as { user?: string };
  const response = await fetch(`${process.env.FEATURES_URL}/${user}`, { signal });
  if (!response.ok) throw new HttpError(424, `no features for ${user}: ${response.status}`);
  return { instances: [await response.json()] };
}
