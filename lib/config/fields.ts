/** Fields that several parts of the configuration have. */
import * as z from 'zod';
import type { Bounds } from '../rules/bounds.ts';

/** Above 0. */
export const positive = z.number().positive();
/** A whole number from 1 on. */
export const count = z.int().positive();
/** A whole number within bounds. */
export const wholeIn = ([least, most]: Bounds) => z.int().min(least).max(most);
/** Days, as S3 counts them in its lifecycle rules. */
export const days = count.max(36_500);
/** From 0 on. */
export const fraction = z.number().min(0);

/** Start of a name in AWS. */
export const name = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'use letters, digits and hyphens');

/** A key of KMS. */
export const keyArn = z
  .string()
  .regex(
    /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
    'write the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID, and not of an alias',
  );

/** The end of a description: what a field is where nobody says otherwise. */
export function byDefault(value: unknown): string {
  return `Default: ${typeof value === 'string' ? `\`${value}\`` : String(value)}.`;
}

/** `contentType` of a batch, whichever way it runs. */
export const inputType = z
  .string()
  .optional()
  .describe(
    'Media type of the inputs. Default: `application/x-image` for a model that is packaged here and takes pictures. Others need one.',
  );
