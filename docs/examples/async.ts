/** Asks an asynchronous endpoint, and waits for the answer on S3. */
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { predictAsync } from 'sagemaker-tfs/client';

const target = { endpointName: 'tiles-async', region: 'eu-central-1' };
const s3 = new S3Client({ region: target.region });

const asked = await predictAsync(target, 's3://BUCKET/async-input/tile.jpg', {
  contentType: 'image/jpeg',
});
console.log(await textAt(asked.outputLocation));

/** The object's text once it is there. A failed request never has an output: look at `failureLocation` too. */
async function textAt(uri: string): Promise<string> {
  const { host, pathname } = new URL(uri);
  for (;;) {
    const object = await s3
      .send(new GetObjectCommand({ Bucket: host, Key: pathname.slice(1) }))
      .catch(() => undefined);
    if (object?.Body) return object.Body.transformToString();
    await sleep(2_000);
  }
}
