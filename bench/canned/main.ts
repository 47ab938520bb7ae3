/**
 * A `tensorflow_model_server` that computes nothing: it answers every Predict with the outputs of one case
 * (`CANNED_CASE`), so that a benchmark measures the front end before it. It takes the flags that the runtime
 * sets for TensorFlow Serving.
 */
import { readFileSync } from 'node:fs';
import { CASES } from './cases.ts';
import { serveGrpc } from './grpc.ts';
import { serveRest } from './rest.ts';

const flags = Object.fromEntries(
  process.argv.slice(2).map((argument) => {
    const [name = '', ...value] = argument.replace(/^--/, '').split('=');
    return [name, value.join('=')];
  }),
);
if ('version' in flags) {
  process.stdout.write('TensorFlow ModelServer: canned\n');
  process.exit(0);
}
const canned = CASES[process.env.CANNED_CASE ?? 'S']?.();
if (!canned) throw new Error(`CANNED_CASE must be one of ${Object.keys(CASES).join(', ')}`);
const model = flags.model_name ?? nameInConfig(flags.model_config_file) ?? 'model';
const socket = flags.grpc_socket_path;
serveGrpc(canned, model, [Number(flags.port ?? 8500), ...(socket ? [socket] : [])]);
if (flags.rest_api_port) serveRest(canned, model, Number(flags.rest_api_port));

function nameInConfig(path: string | undefined): string | undefined {
  return path ? /name:\s*['"]([^'"]+)['"]/.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
}

process.on('SIGTERM', () => process.exit(0));
