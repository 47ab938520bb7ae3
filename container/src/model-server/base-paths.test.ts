import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkBasePaths } from './base-paths.ts';

test('versions are linked by their numbers: of two names of one version one, none beyond int64', async () => {
  const root = await mkdtemp(join(tmpdir(), 'base-paths-'));
  try {
    const model = join(root, 'model');
    for (const name of ['01', '1', '0002', '9223372036854775808', 'assets']) {
      await mkdir(join(model, name), { recursive: true });
    }
    const links = join(root, 'links');
    await linkBasePaths(links, [{ name: 'm', basePath: model, versions: ['1', '2'] }]);
    expect((await readdir(join(links, 'm'))).sort()).toEqual(['1', '2']);
    expect(await readlink(join(links, 'm', '1'))).toBe(join(model, '1'));
    expect(await readlink(join(links, 'm', '2'))).toBe(join(model, '0002'));
  } finally {
    await rm(root, { recursive: true });
  }
});
