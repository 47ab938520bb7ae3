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
  const path = await basePath(
    '1',
    '0002',
    '1738108800',
    'latest',
    '-3',
    '4a',
    '99999999999999999999',
  );
  await writeFile(join(path, '7'), 'a file');
  // Neither is looked at before it is loaded.
  await symlink(join(path, 'nowhere'), join(path, '5'));
  const found = await listVersions(path, 'm');
  expect(found.map(({ version }) => version)).toEqual([1738108800n, 7n, 5n, 2n, 1n]);
  expect(found[3]?.path).toBe(join(path, '0002'));
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
