import { answerTooLarge } from './answer-too-large.ts';

test.each([
  [
    1000,
    'It is too large. Ask for fewer outputs with tfs-outputs, send fewer rows, or raise SAGEMAKER_TFS_MAX_RESPONSE_BYTES.',
  ],
  [
    2 ** 31 - 1,
    'It is too large. Ask for fewer outputs with tfs-outputs, or send fewer rows: SAGEMAKER_TFS_MAX_RESPONSE_BYTES has its greatest value.',
  ],
])('a limit of %d is raised only if it can be', (limit, message) => {
  expect(answerTooLarge('It is too large', limit, new Error())).toMatchObject({
    code: 'RESPONSE_TOO_LARGE',
    message,
  });
});
