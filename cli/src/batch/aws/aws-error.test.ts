/** What a command says of each kind of refusal, and how long it looks again. */
import { awsError } from './aws-error.ts';
import { rideOut } from './ride-out.ts';

/** An error as the SDK throws it. */
function sdkError(name: string, httpStatusCode?: number, message = 'AWS says so') {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
}

test.each([
  ['SlowDown', 503, /: AWS says so\. It is asked too often\. Try again in a minute, /],
  ['ThrottlingException', 400, /It is asked too often/],
  ['InternalFailure', 500, /: AWS says so\. The fault is with AWS\. Try again in a few minutes\.$/],
  ['ServiceUnavailable', 503, /The fault is with AWS/],
  ['AccessDeniedException', 400, /the permission that is named granted/],
  ['NoSuchBucket', 404, /Check names and region\.$/],
  ['ResourceNotFound', 400, /Check names and region\.$/],
  ['ExpiredTokenException', 403, /Renew the credentials\.$/],
  ['UnrecognizedClientException', 400, /Renew the credentials\.$/],
  ['ExpiredToken', 400, /Renew the credentials\.$/],
  ['ResourceLimitExceeded', 400, /larger quota\.$/],
  ['ResourceInUse', 400, /Give another name\.$/],
  ['ValidationException', 400, /^AWS answers ValidationException: AWS says so\.$/],
  ['Error', undefined, /^AWS does not answer: AWS says so\. Check the network, the region, and/],
])('%s with status %s says what to do', (name, status, message) => {
  const error = awsError(sdkError(name, status));
  expect(error).toMatchObject({ code: 'AWS_FAILED', details: { awsError: name } });
  expect((error as Error).message).toMatch(message);
});

test.each([
  [
    'AccessDenied',
    403,
    'Access Denied (GetObject of s3://b/k). The credentials need s3:GetObject.',
  ],
  ['ExpiredToken', 400, 'It has expired (GetObject of s3://b/k). Renew the credentials.'],
  ['NoSuchBucket', 404, "No such bucket (GetObject of s3://b/k). Check the bucket's name."],
])('advice of S3 itself is not repeated: %s', (name, status, message) => {
  const { message: said } = awsError(sdkError(name, status, message)) as Error;
  expect(said).toBe(`AWS answers ${name}: ${message}`);
});

describe('looks', () => {
  const slow = sdkError('SlowDown', 503);
  const looking = (...answers: (Error | string)[]) => {
    const look = jest.fn(async () => {
      const next = answers.length > 1 ? answers.shift() : answers[0];
      if (next instanceof Error) throw next;
      return next;
    });
    return look;
  };

  test('continue while AWS is at fault, and say so once', async () => {
    const onTrouble = jest.fn();
    const look = looking(slow, sdkError('ThrottlingException', 400), sdkError('E', 500), 'done');
    expect(await rideOut(look, { every: 1, onTrouble })).toBe('done');
    expect([look.mock.calls.length, onTrouble.mock.calls]).toEqual([4, [[slow]]]);
  });

  test('end at once for what does not pass, and else after a time', async () => {
    const denied = sdkError('AccessDenied', 403);
    const look = looking(slow, denied);
    await expect(rideOut(look, { every: 1 })).rejects.toBe(denied);
    expect(look).toHaveBeenCalledTimes(2);
    await expect(rideOut(looking(slow), { every: 1, minutes: 0 })).rejects.toBe(slow);
  });
});
