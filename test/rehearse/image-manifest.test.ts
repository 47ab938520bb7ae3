/** An image that SageMaker would refuse fails the rehearsal. The registry is a stand-in. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkManifest } from './image-manifest.ts';

let registry: Server;
let mediaType: string;
let status: number;
let asked: string[];

beforeAll(async () => {
  registry = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status, { 'Content-Type': mediaType });
    response.end(JSON.stringify({ schemaVersion: 2, mediaType }));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
});

beforeEach(() => {
  asked = [];
  status = 200;
});

afterAll(() => {
  registry.closeAllConnections();
  registry.close();
});

const check = () =>
  checkManifest(`127.0.0.1:${(registry.address() as AddressInfo).port}/cdk/assets:0123abcd`);

test("Docker's own is taken", async () => {
  mediaType = 'application/vnd.docker.distribution.manifest.v2+json';
  await check();
  expect(asked).toEqual(['/v2/cdk/assets/manifests/0123abcd']);
});

test.each([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
])('%s is refused', async (kind) => {
  mediaType = kind;
  await expect(check()).rejects.toThrow(`this one is ${kind}`);
});

test('an image that is not there is refused', async () => {
  status = 404;
  await expect(check()).rejects.toThrow('(404)');
});
