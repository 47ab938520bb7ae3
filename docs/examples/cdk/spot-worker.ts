/** Batch inference on spot instances of AWS Batch. */
import { BatchWorker, ModelData, ServingImage, TensorFlowModel } from '@sagemaker-tfs/cdk';
import { GatewayVpcEndpointAwsService, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { App, CfnOutput, Stack } from 'aws-cdk-lib/core';

/** Tiles of a map. */
class Tiles extends Stack {
  constructor(app: App) {
    super(app, 'Tiles');
    const model = new TensorFlowModel(this, 'Model', {
      image: new ServingImage(this, 'Image', { variant: 'gpu' }),
      modelData: ModelData.fromDirectory('examples/digits/model'),
    });
    const vpc = new Vpc(this, 'Vpc', {
      gatewayEndpoints: { S3: { service: GatewayVpcEndpointAwsService.S3 } },
    });
    const bucket = Bucket.fromBucketName(this, 'Data', 'my-tiles');
    const worker = new BatchWorker(this, 'Worker', {
      model,
      vpc,
      input: { bucket, prefix: 'tiles/' },
      output: { bucket, prefix: 'answers/' },
      instanceTypes: ['g4dn.xlarge', 'g5.xlarge', 'g6.xlarge'],
      workers: 20,
    });
    new CfnOutput(this, 'Queue', { value: worker.queue.jobQueueArn });
    new CfnOutput(this, 'Job', { value: worker.definitionName });
  }
}

new Tiles(new App());
