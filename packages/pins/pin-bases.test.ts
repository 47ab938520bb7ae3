/** Base images are pinned by what their registry says. The registry is a stand-in that speaks its protocol. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = 'packages/pins/pin-bases.ts';
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

let registry: Server;
let host: string;
let folder: string;
let current = digest('a');

beforeAll(async () => {
  registry = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${host}`);
    if (url.pathname === '/token') {
      expect(url.searchParams.get('scope')).toBe('repository:library/node:pull');
      response.end(JSON.stringify({ token: 'anyone' }));
    } else if (url.pathname !== '/v2/library/node/manifests/24') {
      response.writeHead(404).end();
    } else if (request.headers.authorization !== 'Bearer anyone') {
      const challenge = `Bearer realm="http://${host}/token",service="registry"`;
      response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    } else {
      expect(request.headers.accept).toContain('application/vnd.oci.image.index.v1+json');
      response.writeHead(200, { 'Docker-Content-Digest': current }).end();
    }
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'pin-bases-'));
});

afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

function dockerfile(reference: string): string {
  const file = join(folder, 'Dockerfile');
  writeFileSync(file, `# A base\nARG NODE_BASE=${reference}\nFROM \${NODE_BASE}\n`);
  return file;
}

const pin = (...args: string[]) =>
  new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', SCRIPT, ...args], (error, stdout, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stdout: stdout.trim(), stderr }),
    );
  });

test('a tag gets its digest, and another when it has moved', async () => {
  const file = dockerfile(`${host}/library/node:24`);
  expect(await pin(file)).toMatchObject({ exitCode: 0 });
  const pinned = `ARG NODE_BASE=${host}/library/node:24@${digest('a')}\nFROM \${NODE_BASE}\n`;
  expect(readFileSync(file, 'utf8')).toBe(`# A base\n${pinned}`);
  expect(await pin('--check', file)).toMatchObject({ exitCode: 0 });
  current = digest('b');
  expect(await pin('--check', file)).toMatchObject({
    exitCode: 1,
    stdout: `${host}/library/node:24  ${digest('a')} -> ${digest('b')}`,
  });
  expect(readFileSync(file, 'utf8')).toContain(digest('a'));
  await pin(file);
  expect(readFileSync(file, 'utf8')).toContain(`node:24@${digest('b')}\n`);
});

test('a tag that the registry lacks is said, and nothing is written', async () => {
  const file = dockerfile(`${host}/library/node:99`);
  const before = readFileSync(file, 'utf8');
  const { exitCode, stderr } = await pin(file);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/manifests\/99 answers 404\. Check the name and the tag\./);
  expect(readFileSync(file, 'utf8')).toBe(before);
});
