/** What reasons of failed transform jobs mean, as patterns that JavaScript and JSONata read alike, without letter case. */

/** No capacity at the moment. */
export const NO_CAPACITY =
  'capacity ?error|unable to provision|insufficient.*capacity|ResourceLimitExceeded|throttl|rate exceeded';
/** SageMaker's own fault. */
export const SERVICE_FAULT = 'internal ?(server ?)?(failure|error)|service ?unavailable';
/** Every other job would fail as well. The role's leave for a subnet goes with a change of the VPC. */
export const LASTING_FAULT =
  'ping health|respond to ping|CannotStartContainer|model data|container image|could not find model|AssumeRole|not authorized to perform: ec2:|NetworkInterface';

/** Whether a reason of a failed job says nothing about its inputs. @returns what it is about instead */
export function otherCause(reason: string): 'passing' | 'lasting' | undefined {
  const is = (pattern: string) => new RegExp(pattern, 'i').test(reason);
  if (is(NO_CAPACITY) || is(SERVICE_FAULT)) return 'passing';
  return is(LASTING_FAULT) ? 'lasting' : undefined;
}
