/** What is loaded and unloaded next, as AvailabilityPreservingPolicy and AspiredVersionsManager decide. */
import { ManagedModel } from './managed-model.ts';

const directories = (...versions: bigint[]) =>
  versions.map((version) => ({ version, path: `/models/m/${version}` }));

/** Does what is to be done, one action after the other, and tells it: `load 2`. */
function settle(model: ManagedModel): string[] {
  const done: string[] = [];
  for (;;) {
    model.update();
    const { next } = model;
    if (!next) return done;
    next.version.stage = next.kind === 'load' ? 'ready' : 'over';
    done.push(`${next.kind} ${next.version.directory.version}`);
  }
}

function modelWith(...versions: bigint[]): ManagedModel {
  const model = new ManagedModel('m');
  model.aspire(directories(...versions));
  settle(model);
  return model;
}

test('the highest version loads first', () => {
  const model = new ManagedModel('m');
  model.aspire(directories(1n, 3n, 2n));
  expect(settle(model)).toEqual(['load 3', 'load 2', 'load 1']);
});

test('an older version goes when a wanted one serves, not before', () => {
  const model = modelWith(1n);
  model.aspire(directories(2n));
  expect(settle(model)).toEqual(['load 2', 'unload 1']);
});

test('of several that are not wanted one stays until a wanted one serves', () => {
  const model = modelWith(1n, 2n);
  model.aspire(directories(3n));
  expect(settle(model)).toEqual(['unload 1', 'load 3', 'unload 2']);
});

test('without any wanted version all go, the lowest first', () => {
  const model = modelWith(1n, 2n, 3n);
  model.aspire([]);
  expect(settle(model)).toEqual(['unload 1', 'unload 2', 'unload 3']);
  expect(model.isOver).toBe(true);
});

test('a version that failed is not tried again while it is asked for', () => {
  const model = new ManagedModel('m');
  model.aspire(directories(1n));
  model.update();
  const { next } = model;
  if (next) next.version.stage = 'over';
  model.aspire(directories(1n));
  expect(settle(model)).toEqual([]);
  model.aspire([]);
  settle(model);
  model.aspire(directories(1n));
  expect(settle(model)).toEqual(['load 1']);
});

test('a version that is asked for again waits until the one that goes is gone', () => {
  const model = modelWith(1n);
  model.aspire([]);
  model.update();
  const { next } = model;
  if (next) next.version.stage = 'unloading';
  model.aspire(directories(1n));
  expect(model.update()).toEqual([]);
  expect(model.next).toBeUndefined();
  if (next) next.version.stage = 'over';
  expect(settle(model)).toEqual(['load 1']);
});

test('the last request counts where two come before either is taken note of', () => {
  const model = modelWith(1n);
  model.aspire([]);
  model.aspire(directories(1n));
  expect(settle(model)).toEqual([]);
});
