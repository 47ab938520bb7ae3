/** `sagemaker-tfs/development/estimate`: what a run costs, for this repository's own simulation. It is not published. */
export { estimate } from '../estimate/estimate.ts';
export { readPrices } from '../estimate/prices.ts';
export { LOG_BYTES, PACKING_TYPE, type Workload } from '../estimate/workload.ts';
