import { fixtureModels } from '../../test/fixtures/index.ts';

const UNSERVABLE = ['custom_op', 'broken_variables', 'sparse_input', 'complex_output'];

/** Without those that cannot be loaded, run, or whose default answer has an output that is not carried. */
export const servableModels = fixtureModels().filter(({ name }) => !UNSERVABLE.includes(name));
