/** What is made, for how long at most, and what that costs in us-east-1 (prices/us-east-1.json). */

/** A stage that is paid for. */
export interface Cost {
  readonly what: string;
  readonly usdPerHour: number;
  readonly minutes: number;
}

/** Minutes that a resource is waited for before it is deleted, at most. */
export const MAX_MINUTES = 25;

const GPU = 0.736;
const COSTS: readonly Cost[] = [
  { what: 'endpoint, ml.m5.large', usdPerHour: 0.115, minutes: MAX_MINUTES },
  { what: 'endpoint, ml.g4dn.xlarge', usdPerHour: GPU, minutes: MAX_MINUTES },
  { what: 'endpoint, ml.g4dn.xlarge with a newer AMI', usdPerHour: GPU, minutes: MAX_MINUTES },
  { what: 'multi-model endpoint, ml.m5.large', usdPerHour: 0.115, minutes: MAX_MINUTES },
  { what: 'transform job, ml.g4dn.xlarge', usdPerHour: GPU, minutes: MAX_MINUTES },
  { what: 'serverless endpoint, 1 GB: a few requests', usdPerHour: 0.072, minutes: 1 },
  { what: 'an image of 80 MB in ECR, and a bucket', usdPerHour: 0.01, minutes: MAX_MINUTES },
];

/** US dollars if everything takes as long as it may. */
function mostUsd(): number {
  return COSTS.reduce((sum, { usdPerHour, minutes }) => sum + (usdPerHour * minutes) / 60, 0);
}

/** The plan, as it is shown before anything is made. */
export function planText(account: string, region: string): string {
  const lines = COSTS.map(
    ({ what, usdPerHour, minutes }) =>
      `  ${what}: ${minutes} min at most, $${((usdPerHour * minutes) / 60).toFixed(2)}`,
  );
  return [
    `In account ${account}, ${region}, for half an hour at most:`,
    ...lines,
    `  together $${mostUsd().toFixed(2)} at most, at the prices of us-east-1`,
    'Everything is deleted at the end, also after Ctrl-C; --clean deletes what a killed run left.',
  ].join('\n');
}
