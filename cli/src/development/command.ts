/**
 * `sagemaker-tfs/development/command`: the command line itself, for the pages and tests of this repository that speak of
 * it. It is not published.
 */
export { readAssembly } from '../account/assembly.ts';
export { tableOf } from '../completion/command-table.ts';
export { EXIT } from '../errors.ts';
export { filesOf, TEMPLATES } from '../init/templates.ts';
export { program } from '../main.ts';
export { EXAMPLES } from '../verbs/examples.ts';
