import type { BuildOptions, Metafile } from 'esbuild';

export declare const NATIVE: readonly string[];
export declare const PROGRAMS: Readonly<Record<string, readonly string[]>>;
export declare function bundleModules(
  entries: Readonly<Record<string, string>>,
  outdir: string,
  options?: BuildOptions,
): Promise<Metafile>;
export declare function bundleCommonJs(
  entry: string,
  outfile: string,
  options?: BuildOptions,
): Promise<Metafile>;
export declare function bundleProgram(room: string, outdir: string): Promise<void>;
export declare function bundleConstructs(outdir: string, options?: BuildOptions): Promise<void>;
