/** Tables and functions of the constructs that the pages and the tests of whole stacks take. */
export { AWS_RULES } from '../config-rules/index.ts';
export { CONSTRUCT_ERRORS, jobsContinue, RUN_ERRORS } from '../errors.ts';
export { INSTANCE_FAMILIES } from '../instance-types/families.ts';
export { REGIONS, REGIONS_SOURCE, regionFacts } from '../instance-types/regions.ts';
export { hashSources } from '../model-data/inputs.ts';
export { warnOfSize } from '../model-data/unpacked-upload.ts';
