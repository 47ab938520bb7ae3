/** `serve` as people see it in a terminal: what is served, a line for each request, keys, handlers that reload. */
import { relative } from 'node:path';
import { CommandError, explain } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { commandName } from '../output/command-name.ts';
import { behind, lengthOf, type Style, styleOf, wrappedLine } from '../output/style.ts';
import {
  type ServeSession,
  type SessionOptions,
  startSession,
} from '../playground/serve-session.ts';
import { shownNames } from '../serving/shown-name.ts';
import { listenToKeys } from './keys.ts';
import { type QuietLog, quietLog } from './quiet-log.ts';
import { type Screen, screenOn } from './screen.ts';
import { exchangeLine, readyLines } from './serve-lines.ts';
import { watchSources } from './watch-sources.ts';

/** What to serve, and whether to load the handler again when its sources change. */
interface TerminalOptions extends Omit<SessionOptions, 'log' | 'signal' | 'onExchange' | 'onStep'> {
  readonly watch: boolean;
}

/** Health checks come every few seconds and tell nothing while they succeed. */
const SILENT = '/ping';

/** Serves until `q`, Ctrl-C or the runtime's end. @throws as `startSession`; CommandError RUNTIME_FAILED */
export async function serveInTerminal(options: TerminalOptions): Promise<void> {
  const style = styleOf(process.stdout);
  const screen = screenOn(process.stdout, style);
  const { write } = screen;
  const log = quietLog(style, write);
  const stop = new AbortController();
  onInterrupt(() => stop.abort());
  screen.doing('Starting TensorFlow');
  const session = await startSession({
    ...options,
    log: log.take,
    signal: stop.signal,
    onStep: screen.doing,
    onExchange: (exchange) => {
      const isSilent = exchange.path === SILENT && exchange.status === 200;
      if (!isSilent) write(exchangeLine(exchange, style));
      if (exchange.status >= 500 && process.stdin.isTTY) log.hint();
    },
  })
    .catch((error: unknown) => {
      if (stop.signal.aborted) return undefined;
      throw error;
    })
    .finally(() => screen.done());
  if (!session) return;
  const tryAgain = trying(session, options.source, stop.signal, write);
  const reload = reloading(session, stop.signal, log, screen, tryAgain);
  const release = listenToKeys({
    on: { q: () => stop.abort(), r: () => void reload(), l: () => toggle(log, write) },
    // As the signal that a terminal sends unless it is raw: a second one ends at once.
    interrupt: () => process.kill(process.pid, 'SIGINT'),
  });
  const unwatch =
    options.watch && options.handler
      ? watchSources(options.handler, () => void reload())
      : () => undefined;
  try {
    await introduce(session, options, write);
    tryAgain();
    await untilEnd(session, stop.signal);
  } finally {
    unwatch();
    release();
    screen.doing('Stopping; Ctrl-C again ends now');
    await session.close().finally(() => screen.done());
  }
}

type Write = (line: string) => void;

/** The model, where to go, and the keys. */
async function introduce(
  session: ServeSession,
  { source, playground, handler, watch }: TerminalOptions,
  write: Write,
): Promise<void> {
  const { inspectModel, readManifest } = await import('@sagemaker-tfs/model-packaging');
  const style = styleOf(process.stdout);
  const report = await inspectModel(session.directory());
  const manifest = await readManifest(session.directory());
  const nameOf = shownNames(report.models, source);
  for (const line of readyLines(report, nameOf, manifest, session.runtime(), style)) write(line);
  const at = new URL(session.url).port === '8080' ? '' : ` --url ${session.url}`;
  write('');
  if (playground) write(`  Playground  ${style.strong(`${session.url}/`)}`);
  write(`  Try         ${commandName()} invoke FILE${at}`);
  if (handler && watch) {
    for (const line of behind('  Watching    ', relative('', handler), style.width)) write(line);
  }
  if (process.stdin.isTTY) write(style.quiet('  l raw logs · r reload · q quit'));
  write('');
}

/**
 * Asks every signature once, in the background, and says what came of it. A reload ends what still runs of the version before.
 */
function trying(session: ServeSession, source: string, signal: AbortSignal, write: Write) {
  const style = styleOf(process.stdout);
  let latest = new AbortController();
  const run = async (ours: AbortSignal) => {
    const { trySignatures } = await import('../serving/try-signatures.ts');
    const directory = session.directory();
    const { models } = await (await import('@sagemaker-tfs/model-packaging')).inspectModel(
      directory,
    );
    const nameOf = shownNames(models, source);
    const { url } = session.runtime();
    for (const { what, answers } of await trySignatures({ directory, url, signal: ours, nameOf })) {
      if (ours.aborted) return;
      const lines = behind(answers ? '  ' : `${style.strong('!')} `, what, style.width);
      for (const line of lines) write(answers ? style.quiet(line) : line);
    }
  };
  return () => {
    latest.abort();
    latest = new AbortController();
    // It was only a try: what ends it, an interrupt above all, is no failure of serving.
    run(AbortSignal.any([signal, latest.signal])).catch(() => undefined);
  };
}

function toggle(log: QuietLog, write: Write): void {
  write(log.toggle() ? '' : '  raw logs off');
}

/** One reload at a time; what is asked for meanwhile ends it, as it may be stuck in a handler that never finishes loading. */
function reloading(
  session: ServeSession,
  signal: AbortSignal,
  log: QuietLog,
  screen: Screen,
  onReloaded: () => void,
) {
  const { write } = screen;
  const style = styleOf(process.stdout);
  let running: AbortController | undefined;
  let again = false;
  const report = (error: unknown) => {
    // Whole, as a compile error shows its place.
    write(`${style.bad('✗')} not reloaded, the version before continues`);
    for (const line of explain(error)
      .split('\n')
      .flatMap((text) => broken(`  ${text}`, style))) {
      write(line);
    }
    if (process.stdin.isTTY) log.hint();
  };
  return async function reload(): Promise<void> {
    if (running) {
      again = true;
      running.abort();
      return;
    }
    running = new AbortController();
    try {
      const from = performance.now();
      screen.doing('Reloading');
      await session.reload(running.signal).finally(() => {
        // What stops meanwhile shows its own line.
        if (!signal.aborted) screen.done();
      });
      const seconds = ((performance.now() - from) / 1000).toFixed(1);
      write(`${style.good('✓')} reloaded in ${seconds} s`);
      onReloaded();
    } catch (error) {
      // After `q`, a failed reload is not reported.
      if (signal.aborted) return;
      if (!again) report(error);
    }
    running = undefined;
    if (again) {
      again = false;
      await reload();
    }
  };
}

/** A line of an error: lines of source, which have tabs, stay as they are while they fit. */
function broken(line: string, { width }: Style): string[] {
  return lengthOf(line) <= width ? [line] : wrappedLine(line, width);
}

async function untilEnd(session: ServeSession, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const status = await Promise.race([interrupted, session.ended]);
  if (status === undefined || status === 0) return;
  throw new CommandError(
    'RUNTIME_FAILED',
    `the serving runtime ended with status ${status}. Serve it again with --json to see its whole log.`,
  );
}
