/** The runtime's log for people: kept, shown raw when they ask, and otherwise only what warns of something. */
import { behind, type Style } from '../output/style.ts';

/** Lines that `l` shows of what was before. */
const KEPT = 200;
/** The model server's own lines, whatever its threshold: TensorFlow tells much at every start. */
const MODEL_SERVER = 'tensorflow_model_server';

/** A log that is quiet until asked. */
export interface QuietLog {
  /** Takes the log's text as it comes. */
  readonly take: (text: string) => void;
  /** Switches between raw lines and warnings only. @returns whether raw lines are shown now */
  toggle(): boolean;
  /** Says once that `l` shows the raw lines, unless they were shown before. */
  hint(): void;
}

/** @param write shows a line */
export function quietLog(style: Style, write: (line: string) => void): QuietLog {
  const kept: string[] = [];
  let raw = false;
  let isHinted = false;
  let rest = '';
  return {
    take(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        kept.push(line);
        if (kept.length > KEPT) kept.shift();
        const shown = raw ? line : warningOf(line, style);
        if (shown !== undefined) write(shown);
      }
    },
    toggle() {
      raw = !raw;
      isHinted = true;
      if (raw) for (const line of kept) write(line);
      return raw;
    },
    hint() {
      if (!isHinted) write(style.quiet('  l shows the raw log of it'));
      isHinted = true;
    },
  };
}

/** What a person should see of a line: warnings and errors of the runtime, in words. */
function warningOf(line: string, style: Style): string | undefined {
  const entry = parsed(line);
  if (!entry) return undefined;
  const { level, msg, source, err, requestId } = entry;
  // The request has a line of its own.
  if (requestId !== undefined) return undefined;
  if (level !== 'warn' && level !== 'error' && level !== 'fatal') return undefined;
  // The command itself says why.
  if (msg === 'the start failed') return undefined;
  // Lines of the model server are marked by the runtime; of those only errors matter here.
  if (source === MODEL_SERVER && level === 'warn') return undefined;
  const parts = [msg, err?.message].filter((part) => typeof part === 'string' && part !== '');
  const message = parts.join(': ').split('\n')[0] ?? '';
  const mark = level === 'warn' ? style.strong('!') : style.bad('✗');
  return behind(`${mark} `, message, style.width).join('\n');
}

interface LogEntry {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly source?: unknown;
  readonly requestId?: unknown;
  readonly err?: { readonly message?: unknown };
}

function parsed(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
