/** SageMaker's refusal of a request to an inference component that has no copies, as when it sleeps. */

/**
 * Whether an error of the SageMaker runtime API says that there is no copy. The API's reference has no code of its own
 * for it: it is a `ValidationError` with this text.
 * @see https://aws.amazon.com/blogs/machine-learning/unlock-cost-savings-with-the-new-scale-down-to-zero-feature-in-amazon-sagemaker-inference/
 */
export function hasNoCapacity(error: unknown): boolean {
  const { name, message } = (error ?? {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  return (
    /^Validation(Error|Exception)$/.test(String(name)) &&
    /inference component has no capacity/i.test(String(message))
  );
}
