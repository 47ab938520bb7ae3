import { isLoopbackName } from '@sagemaker-tfs/container/foreign-pages';
import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { type Command, Option } from 'commander';
import { CommandError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { writeLogLine } from '../output/log-line.ts';
import type { ServeSession } from '../playground/serve-session.ts';
import { keyValue, port } from './options.ts';

interface ServeOptions {
  readonly handler?: string;
  readonly port: number;
  readonly backend?: string;
  readonly host?: string;
  readonly playground: boolean;
  readonly watch: boolean;
  readonly json?: true;
  readonly env?: Record<string, string>;
}

/** Where the runtime's own port is bound unless the environment says otherwise: nobody else's machine. */
const LOOPBACK = '127.0.0.1';

/** `serve`: the serving runtime on this machine, for any SavedModel, with a page to try it. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description(
      'serve a SavedModel directory or a model.tar.gz on this machine, as SageMaker would',
    )
    .argument('<source>', 'model directory, version directory or model.tar.gz')
    .option('--handler <file>', 'TypeScript or JavaScript pre/post-processing handler')
    .option('--port <number>', 'port of the playground, /ping and /invocations', port, 8080)
    .addOption(
      new Option(
        '--backend <kind>',
        'how the runtime reaches the model (default: SAGEMAKER_TFS_BACKEND, else grpc)',
      ).choices(TRANSPORTS),
    )
    .option(
      '--env <name=value>',
      'a runtime variable, for example SAGEMAKER_TFS_ENABLE_BATCHING=true (repeatable)',
      keyValue,
    )
    .option(
      '--host <address>',
      'address to listen on, which opens it to others (default: 127.0.0.1)',
    )
    .option('--no-playground', 'the runtime alone on the port, without the page at /')
    .option('--no-watch', 'in a terminal: leave the handler as it is when its sources change')
    .option(
      '--json',
      'in a terminal: the log lines that a pipe gets, instead of the view for people',
    )
    .action(serve);
}

async function serve(source: string, options: ServeOptions): Promise<void> {
  const { startSession } = await import('../playground/serve-session.ts');
  const { requireFreePort } = await import('../serving/free-port.ts');
  await requireFreePort(options.port);
  const environment = {
    ...(options.backend && { SAGEMAKER_TFS_BACKEND: options.backend }),
    ...options.env,
  };
  const { SAGEMAKER_TFS_BIND_ADDRESS: address } = { ...process.env, ...options.env };
  const host = options.host ?? address ?? LOOPBACK;
  if (!isLoopbackName(host)) {
    process.stderr.write(
      `Warning: ${host} is reachable from other machines; whoever reaches it may use the model.\n`,
    );
  }
  const { opensModelServer } = await import('../serving/model-server.ts');
  if (opensModelServer({ ...process.env, ...environment })) {
    process.stderr.write(
      'Warning: tensorflow_model_server listens on all addresses of this machine, without a login. Take --backend grpc, or set SAGEMAKER_TFS_MODEL_SERVER_TCP=false, where others are on the network.\n',
    );
  }
  const { handler, playground, watch } = options;
  const common = { source, handler, port: options.port, host, environment, playground };
  if (process.stdout.isTTY && !options.json) {
    const { serveInTerminal } = await import('../terminal/serve-terminal.ts');
    return serveInTerminal({ ...common, watch });
  }
  const signal = interruptSignal();
  try {
    const session = await startSession({
      ...common,
      log: 'inherit',
      signal,
      onStep: (what) => writeLogLine('info', what),
    });
    reportServing(session, options.playground);
    const { trySignatures } = await import('../serving/try-signatures.ts');
    trySignatures({ directory: session.directory(), url: session.runtime().url, signal }).then(
      (tries) => {
        for (const { what, answers } of tries) writeLogLine(answers ? 'info' : 'warn', what);
      },
      // It was only a try: what ends it, an interrupt above all, is no failure of serving.
      () => undefined,
    );
    await untilStopped(session, signal);
  } catch (error) {
    // An interrupt during the start is how people end it: not a failure.
    if (!signal.aborted) throw error;
  }
}

function reportServing(session: ServeSession, hasPlayground: boolean): void {
  const { url } = session;
  const playground = hasPlayground ? { playground: `${url}/` } : {};
  const page = hasPlayground ? `, playground at ${url}/` : '';
  const { kind, program } = session.runtime().modelServer;
  writeLogLine('info', `Serving on ${url} with ${kind} (${program})${page}; end with Ctrl-C.`, {
    url,
    modelServer: kind,
    ...playground,
  });
}

async function untilStopped(session: ServeSession, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<'interrupted'>((resolve) => {
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
    if (signal.aborted) resolve('interrupted');
  });
  const ending = await Promise.race([interrupted, session.ended]);
  await session.close();
  if (ending !== 'interrupted' && ending !== 0) {
    throw new CommandError(
      'RUNTIME_FAILED',
      `the serving runtime ended with status ${ending}. Its log above says why.`,
    );
  }
}
