/** A job continues with the next instance type where SageMaker refuses one, and only then. */
import { onFirstType } from './instance-types.ts';

const TYPES = [
  { instanceType: 'ml.p3.2xlarge', transformAmiVersion: 'a' },
  { instanceType: 'ml.g5.2xlarge', transformAmiVersion: 'b' },
  { instanceType: 'ml.g4dn.xlarge' },
];

function refusal(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

const QUOTA = refusal(
  'ResourceLimitExceeded',
  "The account-level service limit 'ml.p3.2xlarge for transform job usage' is 0 Instances",
);

/** Creates on the types that are not refused. */
function asked(refusals: Record<string, Error>) {
  const tried: string[] = [];
  const create = async ({ instanceType, transformAmiVersion = '-' }: (typeof TYPES)[number]) => {
    tried.push(`${instanceType} ${transformAmiVersion}`);
    const error = refusals[instanceType];
    if (error) throw error;
  };
  return { tried, result: onFirstType(TYPES, create as Parameters<typeof onFirstType>[1]) };
}

test('the first, where it is taken', async () => {
  const { tried, result } = asked({});
  expect(await result).toBe('ml.p3.2xlarge');
  expect(tried).toEqual(['ml.p3.2xlarge a']);
});

test.each([
  QUOTA,
  refusal('ValidationException', 'Instance type ml.p3.2xlarge is not supported in us-east-1'),
  refusal(
    'ValidationException',
    "Value 'ml.p3.2xlarge' at 'transformResources.instanceType' failed",
  ),
  refusal('ServiceUnavailable', 'Unable to provision requested ML compute capacity'),
])('the next, with its own host image: %s', async (error) => {
  const { tried, result } = asked({ 'ml.p3.2xlarge': error });
  expect(await result).toBe('ml.g5.2xlarge');
  expect(tried).toEqual(['ml.p3.2xlarge a', 'ml.g5.2xlarge b']);
});

test.each([
  refusal('ResourceInUse', 'Job name must be unique within an account'),
  refusal('ThrottlingException', 'Rate exceeded'),
  refusal('ValidationException', 'Could not find model "m"'),
])('no other type mends this: %s', async (error) => {
  const { tried, result } = asked({ 'ml.p3.2xlarge': error });
  await expect(result).rejects.toBe(error);
  expect(tried).toHaveLength(1);
});

test('where all are refused, each reason is reported', async () => {
  const all = Object.fromEntries(TYPES.map(({ instanceType }) => [instanceType, QUOTA]));
  await expect(asked(all).result).rejects.toMatchObject({
    code: 'INSTANCE_TYPES_REFUSED',
    message: expect.stringMatching(/ml\.p3\.2xlarge: .*ml\.g5\.2xlarge: .*ml\.g4dn\.xlarge: /),
    cause: QUOTA,
  });
});

test('of one type, what SageMaker says', async () => {
  const result = onFirstType(TYPES.slice(0, 1), () => Promise.reject(QUOTA));
  await expect(result).rejects.toBe(QUOTA);
});
