/** The environment, read once: every variable becomes one checked, typed value here and nowhere else. */
import { problemsOf } from './environment/problems.ts';
import { type Environment, environmentOf } from './environment/settings.ts';
import { type Variables, valuesOf } from './environment/values.ts';
import { warningsOf } from './environment/warnings.ts';
import { StartError } from './errors.ts';

export type { Batching } from './environment/derived.ts';
export { DEFAULT_GRPC_PORT, DEFAULT_REST_PORT } from './environment/problems.ts';
export type { Environment, TraceOptions } from './environment/settings.ts';
export type { ValueOf } from './environment/values.ts';

/** The result of {@link readEnvironment}. */
interface EnvironmentReading {
  readonly environment: Environment;
  /** What is set and not read, each with advice: names that look like ours, values without effect. */
  readonly warnings: readonly string[];
}

/** Whether requests are joined, for those who need no more of the environment. A value that is refused counts as false. */
export function joinsRequests(variables: Variables): boolean {
  return valuesOf(variables).values.SAGEMAKER_TFS_ENABLE_BATCHING;
}

/**
 * Reads and checks the environment. An empty value counts as unset.
 * @throws StartError ENVIRONMENT_INVALID with a line for every variable whose value makes no sense
 */
export function readEnvironment(variables: Variables): EnvironmentReading {
  const { values, faults } = valuesOf(variables);
  const environment = environmentOf(values);
  // A faulty value was taken for its default: what it would do beside others is not known.
  const combined = problemsOf(values, environment, variables).filter(
    (problem) => !faults.some(({ name }) => problem.includes(name)),
  );
  const problems = [...faults.map(({ problem }) => problem), ...combined];
  if (problems.length > 0) throw new StartError('ENVIRONMENT_INVALID', problems.join('\n'));
  return { environment, warnings: warningsOf(variables, environment) };
}
