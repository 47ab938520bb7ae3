/** Types of `bundle.mjs`. */
import type { Metafile } from 'esbuild';

/** Writes `playground.html`. @throws Error where it would be larger than 80 kB */
export function bundlePlayground(outdir: string): Promise<Metafile>;
