/** What an endpoint's data capture holds: its values, their drift, and whether two variants agree. */
export * from './agreement.ts';
export * from './baseline.ts';
export * from './capture.ts';
export { distributionOf, stabilityOf } from './distribution.ts';
export { type CaptureFile, type Coverage, sampleOf } from './sample.ts';
export { isRead, valuesOf } from './values.ts';
