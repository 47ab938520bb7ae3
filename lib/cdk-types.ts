/**
 * Types of props that hold the CDK's own constructs. Under `exactOptionalPropertyTypes` the CDK's classes are
 * not assignable to the interfaces that they implement: `Bucket.isWebsite` may be undefined, `IBucket.isWebsite`
 * only absent. Naming both lets every app pass either.
 */
import type { IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';

/** A bucket made in the app, or one that exists already. */
export type AnyBucket = IBucket | Bucket;

/** A VPC made in the app, or one that exists already. */
export type AnyVpc = IVpc | Vpc;
