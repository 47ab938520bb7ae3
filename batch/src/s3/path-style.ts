/** Addresses of buckets in clients of S3. */

/** Whether the bucket goes into the path: where the environment names a stand-in for S3, it is no host name. */
export function forcePathStyle(
  {
    AWS_ENDPOINT_URL_S3: s3,
    AWS_ENDPOINT_URL: all,
  }: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return Boolean(s3 ?? all);
}
