/** Each kind of case: what the oracle gave, compared with what this project makes of the same input. */
import { arrays } from './arrays.ts';
import type { Section } from './case.ts';
import { documents } from './documents.ts';
import { images } from './images.ts';
import { models } from './models.ts';
import { sagemakerRecords } from './sagemaker-records.ts';
import { server } from './server.ts';
import { tables } from './tables.ts';

/** All kinds, in the order of the report. */
export const SECTIONS: readonly Section[] = [
  ...arrays,
  ...sagemakerRecords,
  ...tables,
  ...documents,
  ...server,
  ...images,
  ...models,
];
