import { placeInHandler } from './place.ts';

const HANDLER = '/srv/models/a (b)/code/inference.mjs';

test.each([
  [
    'with a name',
    '    at async outputHandler (/srv/models/a (b)/code/inference.ts:4:25)',
    'inference.ts:4:25',
  ],
  ['bare', '    at /srv/models/a (b)/code/lib/rows.ts:1:2', 'lib/rows.ts:1:2'],
  ['as a URL', '    at f (file:///srv/models/a%20(b)/code/inference.mjs:7:1)', 'inference.mjs:7:1'],
  [
    'behind those of others',
    '    at JSON.parse (<anonymous>)\n    at g (node:fs:1:1)\n    at h (/srv/models/a (b)/code/node_modules/x/y.js:1:1)\n    at i (/opt/main.js:2:2)\n    at k (/srv/models/a (b)/code/inference.ts:9:3)',
    'inference.ts:9:3',
  ],
  ['nowhere', '    at i (/opt/main.js:2:2)', undefined],
  ['a file that cannot be', '    at i (file://%zz/x.js:2:2)', undefined],
])('the place of an error: %s', (_, places, place) => {
  expect(placeInHandler(`TypeError: no\n${places}`, HANDLER)).toBe(place);
});
