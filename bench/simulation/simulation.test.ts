import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { S3_RATE } from './assumptions.ts';
import { documentText } from './comparison.ts';
import { DOCUMENT, withResult } from './document.ts';
import { BatchStation, Simulation, Station } from './engine.ts';
import { readMeasured } from './measured.ts';
import { simulate } from './model.ts';
import { charts, packings, simulateAll, sources } from './report.ts';

describe('the engine', () => {
  test('events run in the order of their time, and of their making at the same time', () => {
    const simulation = new Simulation();
    const seen: number[] = [];
    for (const at of [5, 1, 3, 1, 9, 2]) simulation.after(at, () => seen.push(at));
    simulation.run(() => false);
    expect(seen).toEqual([1, 1, 2, 3, 5, 9]);
    expect(simulation.now).toBe(9);
  });

  test('a station with two servers does five pieces of work in three rounds', () => {
    const simulation = new Simulation();
    const station = new Station(simulation, 2);
    const ends: number[] = [];
    for (let i = 0; i < 5; i++) station.serve(10, () => ends.push(simulation.now));
    simulation.run(() => false);
    expect(ends).toEqual([10, 10, 20, 20, 30]);
    expect(station.busy).toBe(50);
  });

  test('what waits for the GPU goes in one batch, up to its limit', () => {
    const simulation = new Simulation();
    const station = new BatchStation(simulation, { batchMs: 10, imageMs: 1, maxBatch: 3 });
    const ends: number[] = [];
    for (let i = 0; i < 5; i++) station.serve(1, () => ends.push(simulation.now));
    simulation.run(() => false);
    expect(ends).toEqual([11, 24, 24, 24, 35]);
  });
});

describe('the model', () => {
  const measured = readMeasured();
  const [unbatched, single] = packings(measured);

  test('gives the same at every run, and never more than S3 takes', () => {
    if (!single) throw new Error('no packing');
    const first = simulate(10, single, measured);
    expect(simulate(10, single, measured)).toEqual(first);
    expect(first.puts).toBeLessThanOrEqual(S3_RATE.put * 1.01);
  });

  test('decoding that takes a hundred times as long makes the CPU the bottleneck', () => {
    if (!single) throw new Error('no packing');
    const slow = simulate(2, single, { ...measured, decodeMs: 100 * measured.decodeMs });
    expect(slow.use.CPU).toBeGreaterThan(0.95);
    expect(slow.use.GPU).toBeLessThan(0.5);
  });

  test('measured times of the model take the place of the assumed ones, and the report says so', () => {
    if (!unbatched) throw new Error('no packing');
    const model = { batchMs: 6, imageMs: 1.8, where: 'ml.g5.xlarge', date: '2026-01-02' };
    const { model: _, ...assumed } = measured;
    const fast = simulate(2, unbatched, assumed);
    const slow = simulate(2, unbatched, { ...assumed, model });
    expect(slow.throughput / fast.throughput).toBeCloseTo(0.5, 2);
    expect(sources({ ...assumed, model }).join('\n')).toContain(
      '**Measured** 2026-01-02 on ml.g5.xlarge: 6.0 ms a batch and 1.8 ms a tile on the GPU',
    );
    const text = sources(assumed).join('\n');
    expect(text).toMatch(/[*]Assumed[*].*: 3.0 ms a batch and 0.90 ms a tile on the GPU/);
    expect(text.match(/[*]Measured[*]/g)).toHaveLength(1);
  });

  test('the document and its charts show what the model gives now', async () => {
    const document = await readFile(DOCUMENT, 'utf8');
    const rows = simulateAll(measured);
    expect(withResult(document, documentText(measured, rows))).toBe(document);
    for (const [name, svg] of Object.entries(charts(measured, rows))) {
      const file = join(dirname(DOCUMENT), 'images', name);
      await expect(readFile(file, 'utf8')).resolves.toBe(`${svg}\n`);
    }
  });
});
