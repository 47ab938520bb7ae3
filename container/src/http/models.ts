/**
 * The routes of a multi-model endpoint (SageMaker, "Build Your Own Container for SageMaker AI Multi-Model
 * Endpoints").
 */
import { ServingError } from '../errors.ts';
import { loadOnce } from '../memory/load-once.ts';
import { isModelName } from '../multi-model/model-location.ts';
import type { ModelTable } from '../multi-model/model-table.ts';
import type { LoadedModel } from '../multi-model/prepare-model.ts';
import type { Exchange } from './exchange.ts';
import { readBody } from './read-body.ts';
import { jsonReply, type Reply } from './reply.ts';

const PAGE_SIZE = 100;

/** Its schema takes longer to load than everything else that listens. */
const loadRequests = loadOnce(() => import('../multi-model/load-request.ts'));

/**
 * `POST /models` with `{"model_name", "url"}`.
 * @param maxBytes of the body
 */
export async function loadModel(
  table: ModelTable,
  exchange: Exchange,
  maxBytes: number,
): Promise<Reply> {
  exchange.acceptBody();
  const { request, signal } = exchange;
  const body = await readBody(request, {
    maxBytes,
    signal,
    variable: 'SAGEMAKER_TFS_MAX_LOAD_REQUEST_BYTES',
  });
  const { parseLoadRequest } = await loadRequests();
  const { model_name: name, url } = parseLoadRequest(body);
  const model = await table.load(name, url);
  const success = `Successfully loaded model ${name}.`;
  return jsonReply({ success, ...describeModel(model) });
}

/** `GET /models`, `next_page_token` continues a list. */
export function listModels(table: ModelTable, { request }: Exchange): Reply {
  const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
  const after = query.get('next_page_token') ?? '';
  if (after !== '') checkPageToken(after);
  const rest = table.models.filter(({ served }) => served.name > after);
  const page = rest.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  return jsonReply({
    models: page.map(describeModel),
    ...(last && rest.length > page.length ? { nextPageToken: last.served.name } : {}),
  });
}

/** The token of a page is the last name of the page before. @throws ServingError BAD_REQUEST */
function checkPageToken(token: string): void {
  if (isModelName(token)) return;
  throw new ServingError(
    'BAD_REQUEST',
    'next_page_token is invalid. Take nextPageToken from the last answer, or leave it out.',
  );
}

/** `GET /models/NAME`. */
export function getModel(table: ModelTable, name: string): Reply {
  return jsonReply(describeModel(table.get(name)));
}

/** `DELETE /models/NAME`. */
export async function unloadModel(table: ModelTable, name: string): Promise<Reply> {
  await table.unload(name);
  return jsonReply({ success: `Successfully unloaded model ${name}.`, modelName: name });
}

function describeModel({ served, url, lastUsed }: LoadedModel) {
  return {
    modelName: served.name,
    modelUrl: url,
    modelVersions: served.versions,
    lastUsed: new Date(lastUsed).toISOString(),
  };
}
