/** A container for SageMaker that tells what it sees: user, cgroup, driver, disks, signals, and how models are unloaded. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** Milliseconds that a request with `hold` takes, so that an unload can come while it is worked on. */
const HOLD_MS = Number(process.env.PROBE_HOLD_MS ?? 20_000);
/** Models that fit; the next one is refused with 507. */
const MAX_MODELS = 1;

const models = new Map();
let unloadedUnderLoad = 0;

function read(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function seen() {
  return {
    uid: process.getuid?.(),
    cgroup: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1,
    driver: /Kernel Module\D*([\d.]+)/.exec(read('/proc/driver/nvidia/version') ?? '')?.[1],
    writable: ['/', '/tmp', '/dev/shm', '/opt/ml', '/opt/ml/model'].filter(isWritable),
    unloadedUnderLoad,
  };
}

/** One line in CloudWatch's embedded metric format. */
function metricLine() {
  return JSON.stringify({
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: 'tfs-first-account',
          Dimensions: [[]],
          Metrics: [{ Name: 'Probe', Unit: 'Count' }],
        },
      ],
    },
    Probe: 1,
  });
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function load(name) {
  if (models.has(name)) return [409, {}];
  if (models.size >= MAX_MODELS) return [507, {}];
  models.set(name, 0);
  return [200, {}];
}

function unload(name) {
  if (!models.has(name)) return [404, {}];
  if (models.get(name) > 0) unloadedUnderLoad += 1;
  models.delete(name);
  return [200, {}];
}

async function invoke(name, body) {
  console.log(metricLine());
  if (name !== undefined) models.set(name, (models.get(name) ?? 0) + 1);
  if (body.includes('hold')) await new Promise((done) => setTimeout(done, HOLD_MS));
  if (models.has(name)) models.set(name, models.get(name) - 1);
  return [200, seen()];
}

async function answer({ method, url = '/' }, body) {
  const [, first, name, last] = url.split('?')[0].split('/');
  if (first === 'ping') return [200, process.env.PROBE_PING_BODY ? { status: 'ok' } : undefined];
  if (first === 'execution-parameters') return [404, {}];
  if (first === 'invocations') return invoke(undefined, body);
  if (first !== 'models') return [404, {}];
  if (method === 'POST' && last === 'invoke') return invoke(name, body);
  if (method === 'POST') return load(JSON.parse(body).model_name);
  if (method === 'DELETE') return unload(name);
  const list = [...models.keys()].map((modelName) => ({ modelName, modelUrl: '/' }));
  if (name === undefined) return [200, { models: list }];
  return models.has(name) ? [200, { modelName: name }] : [404, {}];
}

const server = createServer(async (request, response) => {
  const [status, value] = await answer(request, await bodyOf(request));
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(value === undefined ? '' : JSON.stringify(value));
});

process.on('SIGTERM', () => {
  const start = Date.now();
  const tick = () => console.log(`PROBE alive ${((Date.now() - start) / 1000).toFixed(1)}`);
  tick();
  setInterval(tick, 500);
});

server.listen(Number(process.env.SAGEMAKER_BIND_TO_PORT ?? process.env.PORT ?? 8080));
