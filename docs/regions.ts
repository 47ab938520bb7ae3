/** The table of regions in `docs/aws-rules.md`. */
import { INSTANCE_FAMILIES, REGIONS, REGIONS_SOURCE, regionFacts } from '../lib/testing/parts.ts';
import { table } from '../tools/table.ts';

/** GPU families among instance types, `g4dn g5`. */
function gpus(types: readonly string[]): string {
  const families = new Set(types.map((type) => type.split('.')[1] ?? ''));
  return [...families].filter((family) => INSTANCE_FAMILIES[family]?.gpu).join(' ') || '-';
}

const yes = (value: boolean | undefined) => (value === undefined ? '?' : value ? 'yes' : 'no');

/** Every region of the table, with the GPUs of endpoints and of transform jobs. */
export function regionsText(): string {
  const rows = REGIONS.map((region) => {
    const facts = regionFacts(region);
    const { endpoint = [], transform = [] } = facts?.types ?? {};
    const counts = `${endpoint.length} / ${transform.length}`;
    const components = yes(facts?.inferenceComponents);
    return [`\`${region}\``, counts, gpus(endpoint), gpus(transform), components];
  });
  return `## Regions

\`cdk synth\` warns if a region lacks an instance type, notes a region that is not in this table, and warns of one
that the CDK does not know either. Source: AWS's price
list and CloudFormation's registry, as in ${REGIONS_SOURCE.package} (${REGIONS_SOURCE.asOf}). **No region lists P3 any more**,
neither for endpoints nor for transform jobs. Serverless Inference is refused in China. No list tells which other regions
lack it, or which lack asynchronous inference.

${table(['region', 'types for endpoints / jobs', 'GPUs, endpoints', 'GPUs, jobs', 'inference components'], rows)}
`;
}
