import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../test/temporary.ts';
import { aspiredVersions, listVersions, type VersionPolicy } from './version-policy.ts';

async function basePath(...directories: string[]): Promise<string> {
  const path = await temporaryDirectory();
  for (const directory of directories) await mkdir(join(path, directory));
  return path;
}

test('version directories, newest first; anything else is passed over', async () => {
  const path = await basePath('1', '0002', '1738108800', 'latest', '4a', '99999999999999999999');
  await writeFile(join(path, '7'), 'a file');
  // Neither is looked at before it is loaded.
  await symlink(join(path, 'nowhere'), join(path, '5'));
  const found = await listVersions(path, 'm');
  expect(found.map(({ version }) => version)).toEqual([1738108800n, 7n, 5n, 2n, 1n]);
  expect(found[3]?.path).toBe(join(path, '0002'));
});

test.each<[string, bigint | undefined]>([
  ['+9', 9n],
  ['-2', -2n],
  ['-0', 0n],
  [' 8', 8n],
  ['7 ', 7n],
  ['\t\n\v\f\r 6 \t\n\v\f\r', 6n],
  [' -005 ', -5n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['9223372036854775808', undefined],
  ['-9223372036854775808', -(2n ** 63n)],
  ['-9223372036854775809', undefined],
  ['+', undefined],
  ['- 2', undefined],
  ['+-2', undefined],
  ['1 2', undefined],
  ['0x1', undefined],
  ['1.0', undefined],
  ['\u00a01', undefined],
  ['\u0661', undefined],
])('the name %j is the number that absl::SimpleAtoi reads', async (name, version) => {
  const path = await basePath(name);
  const found = version === undefined ? [] : [{ version, path: join(path, name) }];
  expect(await listVersions(path, 'm')).toEqual(found);
});

test('a base path that is not there is an error with its name', async () => {
  await expect(listVersions('/none', 'm')).rejects.toThrow(
    'Could not find base path /none for servable m',
  );
});

test.each<[VersionPolicy, bigint[]]>([
  [{ kind: 'latest', count: 1 }, [3n]],
  [{ kind: 'latest', count: 2 }, [3n, 2n]],
  [{ kind: 'all' }, [3n, 2n, 1n]],
  [{ kind: 'specific', versions: [1n, 9n] }, [1n]],
])('policy %j', async (policy, expected) => {
  const found = await listVersions(await basePath('1', '2', '3'), 'm');
  expect(aspiredVersions(found, policy).map(({ version }) => version)).toEqual(expected);
});
