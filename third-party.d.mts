import type { Metafile } from 'esbuild';

export declare function writeThirdParty(
  outdir: string,
  ...metafiles: readonly Metafile[]
): Promise<void>;
export declare function licenceComment(metafile: Metafile): string;
