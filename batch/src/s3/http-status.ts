/** HTTP status of an error of the AWS SDK; undefined for any other error, and if no answer came. */
export function httpStatusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata
    ?.httpStatusCode;
}
