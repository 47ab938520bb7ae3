/** `code/manifest.json`, the one file by which packaging tells the runtime what an archive holds. */

import * as z from 'zod';
import { byName, listOf } from './by-name.ts';
import { SHA256 } from './fingerprint.ts';
import { postprocessSchema, preprocessSchema } from './image-declaration.ts';
import { staysInside } from './stays-inside.ts';

/** TensorFlow's own. */
const MAX_DIMENSIONS = 254;

const tensorSpec = z.strictObject({
  /** TensorFlow's name of the dtype, `float32`; or its enum name where this project does not carry it. */
  dtype: z.string(),
  /** -1 for any size; null where the rank is unknown. */
  shape: listOf(z.int().min(-1), { most: MAX_DIMENSIONS }).nullable(),
});

const signature = z.strictObject({
  methodName: z.string(),
  inputs: byName(tensorSpec),
  outputs: byName(tensorSpec),
});

/** As packaging writes it: labels files lie in `code/`. People's own declarations name files anywhere. */
const packagedPostprocess = postprocessSchema.superRefine(({ topK, boxes }, context) => {
  for (const [part, declared] of Object.entries({ topK, boxes })) {
    if (declared?.labels === undefined || staysInside(declared.labels)) continue;
    const message = 'must be a path inside code/. Package the model again.';
    context.addIssue({ code: 'custom', path: [part, 'labels'], message });
  }
});

/** Schema of `code/manifest.json`. No path in it leads out of the archive. */
export const manifestSchema = z.strictObject({
  /** Version of this format. */
  manifestVersion: z.literal(1),
  packager: z.strictObject({ name: z.string(), version: z.string() }),
  /** SHA-256 (hex) over every file's path and digest: the identity of model and handler together. */
  fingerprint: z.string().regex(SHA256),
  /** SHA-256 (hex) and size of every file but this one, by path inside the archive, sorted. */
  files: byName(z.strictObject({ sha256: z.string().regex(SHA256), bytes: z.int().min(0) })).refine(
    (files) => Object.keys(files).every(staysInside),
    {
      error: 'a path leads out of the archive. Package the model again.',
    },
  ),
  /** Models in the archive; the first is the default. */
  models: listOf(
    z.strictObject({
      name: z.string().min(1),
      versions: listOf(z.string().regex(/^\d+$/), { least: 1 }),
      /** Signatures of the newest version, by key. */
      signatures: byName(signature),
    }),
    { least: 1 },
  ),
  /** The bundled handler inside the archive, `code/inference.mjs`, if there is one. */
  handler: z
    .string()
    .refine((path) => path.startsWith('code/') && staysInside(path), {
      error: 'must be a path inside code/. Package the model again.',
    })
    .optional(),
  preprocess: preprocessSchema.optional(),
  postprocess: packagedPostprocess.optional(),
});

/** A checked manifest. */
export type Manifest = z.output<typeof manifestSchema>;
