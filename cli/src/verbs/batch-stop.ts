import type { Command } from 'commander';
import { printResult } from '../output/print.ts';
import { ANY_JOB, type Engine, engineOption, type Shared, shared } from './job-options.ts';

/** `batch stop`: ends a job that was started. */
export function addBatchStop(batch: Command): void {
  shared(
    batch
      .command('stop')
      .description(
        'stop a job or an execution; SageMaker stores no output of a transform job that is stopped',
      )
      .argument('<job>', ANY_JOB)
      .addOption(engineOption()),
  ).action(stop);
}

async function stopWorker(
  name: string,
  { engine, region, json }: Shared & { engine: Exclude<Engine, 'transform'> },
): Promise<void> {
  const { withAws } = await import('../batch/aws/clients.ts');
  const { stopBatchJob, stopProcessing } = await import('../batch/aws/stop-worker.ts');
  const status = await withAws(region, ({ sagemaker }) =>
    engine === 'processing' ? stopProcessing(sagemaker, name) : stopBatchJob(name, region),
  );
  printResult(
    json,
    { job: name, status },
    () =>
      `${name} is ${status}.${status === 'Stopping' ? ' Its workers write what they have; the same batch start continues after it.' : ''}`,
  );
}

async function stop(
  name: string,
  { engine, ...options }: Shared & { engine: Engine },
): Promise<void> {
  if (engine !== 'transform') return stopWorker(name, { ...options, engine });
  const { withAws } = await import('../batch/aws/clients.ts');
  const { describe, hasEnded } = await import('../batch/aws/transform-job.ts');
  const { isExecution } = await import('../batch/aws/execution.ts');
  const { StopTransformJobCommand } = await import('@aws-sdk/client-sagemaker');
  const { StopExecutionCommand } = await import('@aws-sdk/client-sfn');
  const { job, was } = await withAws(options.region, async (clients) => {
    const before = await describe(clients, name);
    // SageMaker refuses to stop these.
    if (hasEnded(before) || before.status === 'Stopping') return { job: before, was: 'already ' };
    // Step Functions stops the jobs that an execution waits for.
    if (isExecution(name)) await clients.sfn.send(new StopExecutionCommand({ executionArn: name }));
    else await clients.sagemaker.send(new StopTransformJobCommand({ TransformJobName: name }));
    return { job: await describe(clients, name), was: '' };
  });
  printResult(
    options.json,
    { job: name, status: job.status },
    () => `${name} is ${was}${job.status}`,
  );
}
