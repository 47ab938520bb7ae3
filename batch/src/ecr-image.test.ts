import { parseEcrImage } from './ecr-image.ts';

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const HERE = { account: '123456789012', region: 'us-east-1', repository: 'team/model-1' };

test.each([
  ['123456789012.dkr.ecr.us-east-1.amazonaws.com/team/model-1', HERE],
  ['123456789012.dkr.ecr.us-east-1.amazonaws.com/team/model-1:v1_2', { ...HERE, tag: 'v1_2' }],
  [
    `123456789012.dkr.ecr.us-east-1.amazonaws.com/team/model-1@${DIGEST}`,
    { ...HERE, digest: DIGEST },
  ],
  [
    `123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/a:b@${DIGEST}`,
    { ...HERE, region: 'us-gov-west-1', repository: 'a', tag: 'b', digest: DIGEST },
  ],
  [
    '123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/a:b',
    { ...HERE, region: 'cn-north-1', repository: 'a', tag: 'b' },
  ],
])('%s', (uri, image) => {
  expect(parseEcrImage(uri)).toEqual(image);
});

test.each([
  'tensorflow/serving:2.20.0',
  'public.ecr.aws/team/model:1',
  '123456789012.dkr.ecr.cn-north-1.amazonaws.com/model:1',
  '123456789012.dkr.ecr.us-east-1.amazonaws.com.cn/model:1',
  '12345.dkr.ecr.us-east-1.amazonaws.com/model:1',
  '123456789012.dkr.ecr.us-east-1.amazonaws.com/',
  '123456789012.dkr.ecr.us-east-1.amazonaws.com/model:1 ',
  '123456789012.dkr.ecr.us-east-1.amazonaws.com/Model:1',
  '123456789012.dkr.ecr.us-east-1.amazonaws.com/model@sha256:12',
  'https://123456789012.dkr.ecr.us-east-1.amazonaws.com/model:1',
])('%s is no image of a private ECR repository', (uri) => {
  expect(parseEcrImage(uri)).toBeUndefined();
});
