/** Runs the code that the page shows, as whoever copies it does. */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

/** By the names of the page. */
const PROGRAMS: Readonly<Record<string, { file: string; look: string[]; run: string[] }>> = {
  curl: { file: 'code.sh', look: ['curl', '--version'], run: ['bash'] },
  TypeScript: { file: 'code.mts', look: ['node', '--version'], run: ['node', '--import', 'tsx'] },
  Python: { file: 'code.py', look: ['python3', '--version'], run: ['python3'] },
  boto3: { file: 'code.py', look: ['python3', '-c', 'import boto3'], run: ['python3'] },
  'aws CLI': { file: 'code.sh', look: ['aws', '--version'], run: ['bash'] },
};

export const LANGUAGES = Object.keys(PROGRAMS);

/** Whether this machine has what the code needs: curl, boto3, the AWS command line. */
export function canRun(language: string): boolean {
  const [program = '', ...args] = PROGRAMS[language]?.look ?? [];
  return program !== '' && spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/**
 * What the code prints, or writes into the file `answer`.
 * @param folder that has the file which the code sends
 * @param endpoint address of {@link endpointInFrontOf}, which answers what AWS would
 */
export async function runCode(
  language: string,
  code: string,
  folder: string,
  endpoint: string,
): Promise<string> {
  const program = PROGRAMS[language];
  if (!program) throw new Error(`no program runs ${language}`);
  await writeFile(join(folder, program.file), code);
  const [command = '', ...args] = [...program.run, program.file];
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: folder,
    env: {
      ...process.env,
      AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
  return stdout;
}

/** A stand-in of SageMaker's runtime API with one endpoint, `my-endpoint`: what is invoked goes to the server at `url`. */
export async function endpointInFrontOf(
  url: string,
): Promise<{ url: string; asked: string[]; close(): void }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const known = request.url === '/endpoints/my-endpoint/invocations';
    if (!known) return void response.writeHead(404).end();
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      /^(?:content-type|accept|x-amzn-sagemaker-)/.test(name) ? [[name, String(value)]] : [],
    ) as [string, string][];
    const body = await buffer(request);
    const answer = await fetch(`${url}/invocations`, { method: 'POST', headers, body });
    response.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? '',
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() };
}
