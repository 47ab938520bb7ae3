/** `batch fetch --partition-by`: a folder for each value of a column, whatever the value. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { generatedClient } from '../../../../../tools/generated-client.ts';
import { fetchInParts, type PartsOptions } from './in-parts.ts';
import { readMetadata } from './metadata.ts';
import { type OutputObject, rangedOutputs } from './source.ts';

const work = mkdtempSync(join(tmpdir(), 'fetch-partitions-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const COUNT = 24;
const keyOf = (at: number) => `o/${at < 12 ? 'day-1' : 'day-2'}/${String(at).padStart(3, '0')}`;
const SITES = ['a/b=c', '100%', 'größe', ''];
const siteOf = (at: number) => SITES[at % SITES.length] as string;

function outputs(count = COUNT, body = (at: number): object => ({ at, site: siteOf(at) })) {
  const { s3 } = generatedClient({
    out: {
      count,
      keyOf: (at) => `${keyOf(at)}.out`,
      bodyOf: (at) => Buffer.from(JSON.stringify(body(at))),
    },
  });
  return rangedOutputs(s3, 's3://out/o/');
}

const fetchBy = async (name: string, partitionBy: string, more: Partial<PartsOptions> = {}) => {
  const folder = join(work, name);
  const report = await fetchInParts(await outputs(), {
    ...{ from: 's3://out/o/', folder, format: 'parquet', partKeys: 5, partitionBy },
    share: { index: 0, of: 1 },
    ...more,
  });
  return { folder, report };
};

async function rowsOf(folder: string, partition: string) {
  const files = readdirSync(join(folder, partition)).sort();
  const rows: Record<string, unknown>[] = [];
  for (const name of files) {
    const file = await asyncBufferFromFile(join(folder, partition, name));
    rows.push(...(await parquetReadObjects({ file })));
  }
  return rows;
}

const partitionsOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('_'))
    .sort();

test('each row lies once below its value, which its file leaves out; Hive reads the names', async () => {
  const { folder, report } = await fetchBy('sites', 'site');
  expect(report).toMatchObject({ complete: true, outputs: COUNT });
  expect(partitionsOf(folder)).toEqual([
    'site=100%25',
    'site=__HIVE_DEFAULT_PARTITION__',
    'site=a%2Fb%3Dc',
    'site=größe',
  ]);
  const expected = (site: string) =>
    Array.from({ length: COUNT }, (_, at) => at).filter((at) => siteOf(at) === site);
  const numbers = async (partition: string) =>
    (await rowsOf(folder, partition)).map(({ at }) => at);
  expect(await numbers('site=a%2Fb%3Dc')).toEqual(expected('a/b=c'));
  expect(await numbers('site=__HIVE_DEFAULT_PARTITION__')).toEqual(expected(''));
  const [row = {}] = await rowsOf(folder, 'site=größe');
  expect(Object.keys(row)).toEqual(['key', 'record', 'at', 'other']);
  const sql = readFileSync(join(folder, '_fetch/table.sql'), 'utf8');
  expect(sql).toContain(')\nPARTITIONED BY (`site` string)\nROW FORMAT');
  expect(sql).not.toContain('  `site`');
  expect(readFileSync(join(folder, '_fetch/partitions.sql'), 'utf8')).toBe(
    'MSCK REPAIR TABLE answers;\n',
  );
  // No incomplete file is left.
  expect(readdirSync(join(folder, '_fetch/partial'))).toEqual([]);
});

test('by the first folder of the keys, and by a column of --join', async () => {
  const { folder } = await fetchBy('days', 'folder');
  expect(partitionsOf(folder)).toEqual(['folder=day-1', 'folder=day-2']);
  expect((await rowsOf(folder, 'folder=day-2')).map(({ at }) => at)).toEqual([
    ...Array.from({ length: 12 }, (_, at) => at + 12),
  ]);
  const known = join(work, 'known.csv');
  const names = Array.from({ length: COUNT }, (_, at) => keyOf(at).slice(2));
  writeFileSync(known, `key,Land Use\n${names.map((name, at) => `${name},${at % 2}\n`).join('')}`);
  const joined = await fetchBy('joined', 'Land Use', {
    metadata: await readMetadata(known, 'key'),
  });
  expect(partitionsOf(joined.folder)).toEqual(['land_use=0', 'land_use=1']);
  expect(await rowsOf(joined.folder, 'land_use=1')).toHaveLength(COUNT / 2);
});

test('what is there stays, another column is refused, and so are columns that part nothing', async () => {
  const { folder } = await fetchBy('again', 'site');
  expect((await fetchBy('again', 'site')).report).toMatchObject({ complete: true, files: 20 });
  await expect(fetchBy('again', 'at')).rejects.toThrow('with another --partition-by');
  expect(partitionsOf(folder)).toHaveLength(SITES.length);
  await expect(fetchBy('none', 'place')).rejects.toThrow(
    /no column to part answers by.*record, at/,
  );
  await expect(fetchBy('key', 'key')).rejects.toThrow('no column to part answers by');
});

test('a column of too many or too long values is refused, and nothing is left of the part', async () => {
  const many = async (body: (at: number) => object, own: object = {}) =>
    fetchInParts(
      { ...(await outputs(150, body)), ...own },
      {
        ...{ from: 's3://out/o/', folder: mkdtempSync(join(work, 'many-')), format: 'parquet' },
        ...{ partKeys: 1_000, partitionBy: 'at', share: { index: 0, of: 1 } },
      },
    );
  await expect(many((at) => ({ at: String(at) }))).rejects.toThrow(
    /more than 100 values.*give a smaller --part-keys/,
  );
  // Parts of a worker are as large as the worker made them, and fewer are written at once.
  const workers = { rangesAtOnce: 2, smallerParts: 'run the worker again' };
  expect(await many((at) => ({ at: String(at) }), workers)).toMatchObject({ answers: 150 });
  await expect(many(() => ({ at: 'x'.repeat(300) }))).rejects.toThrow(/too long/);
});

test('of all values together, a few thousand rows wait in memory', async () => {
  const count = 40_000;
  const source = {
    ...(await outputs(1)),
    whole: { prefix: '' },
    rangesAtOnce: 1,
    reads: 8,
    ranges: async () => [{ prefix: '' }],
    async *open(): AsyncGenerator<OutputObject> {
      for (let at = 0; at < count; at++) {
        const key = String(at).padStart(6, '0');
        const json = JSON.stringify({ at, site: at % 4 === 0 ? `s${at % 50}` : 'most' });
        yield { key, read: async () => [{ key, json, isError: false }] };
      }
    },
  };
  const folder = join(work, 'large');
  await fetchInParts(source as never, {
    ...{ from: 's3://out/o/', folder, format: 'parquet', partKeys: count, partitionBy: 'site' },
    share: { index: 0, of: 1 },
  });
  const file = await asyncBufferFromFile(join(folder, 'site=most/00000-000000.parquet'));
  const groups = (await parquetMetadataAsync(file)).row_groups.map(({ num_rows }) =>
    Number(num_rows),
  );
  expect(groups.reduce((sum, rows) => sum + rows, 0)).toBe((count * 3) / 4);
  expect(Math.max(...groups)).toBeLessThanOrEqual(5_000);
  let rows = 0;
  for (const name of partitionsOf(folder)) rows += (await rowsOf(folder, name)).length;
  expect(rows).toBe(count);
});
