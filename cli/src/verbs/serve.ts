import { type Command, Option } from 'commander';
import { CommandError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import type { RunningRuntime } from '../serving/runtime-process.ts';
import { keyValue, port } from './options.ts';

interface ServeOptions {
  readonly handler?: string;
  readonly port: number;
  readonly backend: string;
  readonly env?: Record<string, string>;
}

/** `serve`: the serving runtime on this machine, for any SavedModel. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description(
      'serve a SavedModel directory or a model.tar.gz on this machine, as SageMaker would',
    )
    .argument('<source>', 'model directory, version directory or model.tar.gz')
    .option('--handler <file>', 'TypeScript or JavaScript pre/post-processing handler')
    .option('--port <number>', 'port of /ping and /invocations', port, 8080)
    .addOption(
      new Option('--backend <kind>', 'how the runtime reaches the model')
        .choices(['grpc', 'rest', 'in-process'])
        .default('grpc'),
    )
    .option(
      '--env <name=value>',
      'a runtime variable, for example SAGEMAKER_TFS_ENABLE_BATCHING=true (repeatable)',
      keyValue,
    )
    .action(serve);
}

async function serve(source: string, options: ServeOptions): Promise<void> {
  const { prepareModelRoot } = await import('../serving/model-root.ts');
  const { startRuntime } = await import('../serving/runtime-process.ts');
  const { describeModels } = await import('../serving/describe-models.ts');
  const { requireFreePort } = await import('../serving/free-port.ts');
  const signal = interruptSignal();

  await requireFreePort(options.port);
  const root = await prepareModelRoot(source, options.handler, signal);
  try {
    process.stdout.write(`${await describeModels(root.directory, options.port)}\n`);
    const runtime = await startRuntime({
      modelDirectory: root.directory,
      port: options.port,
      environment: { SAGEMAKER_TFS_BACKEND: options.backend, ...options.env },
      log: 'inherit',
      signal,
    });
    process.stdout.write(
      `Serving on ${runtime.url} with ${runtime.modelServer.kind} (${runtime.modelServer.program}); end with Ctrl-C.\n`,
    );
    await untilStopped(runtime, signal);
  } catch (error) {
    // An interrupt during the start is how people end it: not a failure.
    if (!signal.aborted) throw error;
  } finally {
    await root.cleanUp();
  }
}

async function untilStopped(runtime: RunningRuntime, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<'interrupted'>((resolve) => {
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
    if (signal.aborted) resolve('interrupted');
  });
  const ending = await Promise.race([interrupted, runtime.exited]);
  await runtime.stop();
  if (ending !== 'interrupted' && ending !== 0) {
    throw new CommandError(
      'RUNTIME_FAILED',
      `the serving runtime ended with status ${ending}; its log above says why`,
    );
  }
}
