/** Listings, objects, retries and errors of S3, for programs that have the AWS SDK. */

export { putIf, type WriteCondition } from './conditional-write.ts';
export { listDated } from './dated-listing.ts';
export { httpStatusOf, isAbsent, isOfCaller, isPassing, isThrottled } from './errors.ts';
export { readFacts } from './facts.ts';
export { type Inventory, inventoryRows, readInventory } from './inventory.ts';
export { type KeyRange, keyRanges, LAST } from './key-ranges.ts';
export {
  type FoundLease,
  isHeldBy,
  leasePlace,
  readLease,
  takeLease,
  writeLease,
} from './leases.ts';
export { listObjects, listPage, listPages, type S3Object } from './listing.ts';
export { findObjects } from './lookup.ts';
export { guarded } from './named-errors.ts';
export { type NeighborLease, neighborLeases } from './neighbor-leases.ts';
export { findObject, openObject, readBytes, readText, receive, receiveIfThere } from './objects.ts';
export { claimOrigin, originPlace, readOrigin, writeOrigin } from './origins.ts';
export { forcePathStyle } from './path-style.ts';
export { attempts, patientRetries } from './patient-retries.ts';
export { boundedConnections } from './quiet-connections.ts';
export { openInputs, type WorkerInputs } from './worker-inputs.ts';
export { type WritingWorkers, writingWorkers } from './writing-workers.ts';
