import { refuseConflicts } from './refuse-conflicts.ts';

test.each<[settings: Parameters<typeof refuseConflicts>[0], message: string]>([
  [
    { splitType: 'Line', assembleWith: 'None' },
    "--assemble-with: 'None' writes the JSON of an object's records with nothing between. Give --assemble-with Line.",
  ],
  [
    { batchStrategy: 'MultiRecord' },
    "--batch-strategy: 'MultiRecord' joins records, and --split-type None makes none. Give a --split-type, or --batch-strategy SingleRecord.",
  ],
])('%j is refused by the names of the options', (settings, message) => {
  expect(() => refuseConflicts(settings)).toThrow(message);
});

test.each<Parameters<typeof refuseConflicts>[0]>([
  {},
  { splitType: 'Line' },
  { splitType: 'Line', assembleWith: 'None', accept: 'text/csv' },
])('%j is not', (settings) => {
  expect(() => refuseConflicts(settings)).not.toThrow();
});
