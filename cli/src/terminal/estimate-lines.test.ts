import type { PricedWay } from '../estimate/basis.ts';
import { styleOf } from '../output/style.ts';
import { estimateLines } from './estimate-lines.ts';

const styled = (width: number) => ({ ...styleOf({} as NodeJS.WriteStream), width });
const one = (way: string, instanceType: string) =>
  ({
    ...{ way, instanceType, instanceCount: 2, hours: 1388.9, jobs: 12 },
    costs: {
      ...{ instances: 12_345.67, packing: 0, requests: 1_234.5, fetch: 12.3, keys: 0 },
      ...{ data: 123.4, storage: 1.2, again: 98.76 },
    },
    ...{ cost: 13_703.57, costPerMillion: 13.7 },
    sensitivity: { slower: 23_456, faster: 9_876.5, failing: 34_567 },
  }) as unknown as PricedWay;
const ALL = ['ml.g4dn.12xlarge', 'ml.c6i.xlarge'].flatMap((type) =>
  ['batch', 'worker', 'endpoint', 'async'].map((way) => one(way, type)),
);

test('80 columns hold every figure, below the instances that they are for', () => {
  const lines = estimateLines(ALL, [], styled(80));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(lines.filter((line) => /^2 x ml\./.test(line))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('$13704'))).toHaveLength(8);
});

test('40 columns lose none', () => {
  const lines = estimateLines(ALL, [], styled(40));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(40);
  expect(lines.filter((line) => line.endsWith('$13704'))).toHaveLength(8);
  expect(lines.join('\n')).not.toContain('…');
});
