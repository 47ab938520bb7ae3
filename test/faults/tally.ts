/** What became of the requests while one fault was there. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Question } from './question.ts';

/** `refused`: with an error of the catalogue that says that it is not the client's fault. */
export type Verdict = 'right' | 'refused' | 'wrong' | 'lost';

/** Figures of one row. */
export interface Counts {
  readonly tries: number;
  readonly right: number;
  readonly refused: number;
  readonly wrong: number;
  readonly lost: number;
  /** Refusals by code. */
  readonly codes: Readonly<Record<string, number>>;
  /** Milliseconds from a fault to the first right answer to a request sent after it, the longest; undefined: no fault. */
  readonly recoveryMs: number | undefined;
  /** A few of the wrong and the lost. */
  readonly examples: readonly string[];
}

/** Codes with which an honest request may be refused. */
const REFUSALS = new Set([
  'MODEL_NOT_READY',
  'MODEL_SERVER_GONE',
  'PROCESS_GONE',
  'SHUTTING_DOWN',
  'OVERLOADED',
  'REQUEST_TIMEOUT',
  'OUT_OF_RESOURCES',
]);
const MAX_EXAMPLES = 5;
/** Characters of an answer that an example shows. */
const EXAMPLE_LENGTH = 200;
/** How long a runtime may take to be right again before the run is given up, in ms. */
const RECOVERY_LIMIT_MS = 60_000;

/** Counts answers. */
export class Tally {
  readonly #counts = { right: 0, refused: 0, wrong: 0, lost: 0 };
  readonly #codes: Record<string, number> = {};
  readonly #examples: string[] = [];
  readonly #allowed: ReadonlySet<string>;
  #faultAt: number | undefined;
  #recoveryMs: number | undefined;

  /** @param alsoAllowed codes that are right refusals under this fault, besides the usual ones */
  constructor(alsoAllowed: readonly string[] = []) {
    this.#allowed = new Set([...REFUSALS, ...alsoAllowed]);
  }

  /** Judges an answer. @param since when it was asked for, in ms of `performance.now()` */
  count(question: Question, answer: Answer, since: number): Verdict {
    const verdict = this.#judge(question, answer);
    this.add(verdict, () => `${question.contentType}: ${JSON.stringify(answer)}`);
    if (verdict === 'right' && this.#faultAt !== undefined && since >= this.#faultAt) {
      const recoveryMs = performance.now() - this.#faultAt;
      this.#recoveryMs = Math.max(this.#recoveryMs ?? 0, recoveryMs);
      this.#faultAt = undefined;
    }
    return verdict;
  }

  /** Counts what was judged elsewhere. */
  add(verdict: Verdict, example: () => string): void {
    this.#counts[verdict] += 1;
    const isBad = verdict === 'wrong' || verdict === 'lost';
    if (isBad && this.#examples.length < MAX_EXAMPLES) {
      this.#examples.push(`${verdict}: ${example().slice(0, EXAMPLE_LENGTH)}`);
    }
  }

  /** The fault happens now, or is over now where it lasts. */
  fault(): void {
    this.#faultAt = performance.now();
  }

  /** Waits until `more` answers more are right. @throws if that takes a minute */
  async untilRight(more: number): Promise<void> {
    const wanted = this.#counts.right + more;
    const end = performance.now() + RECOVERY_LIMIT_MS;
    while (this.#counts.right < wanted || this.#faultAt !== undefined) {
      if (performance.now() > end) {
        throw new Error(`not right again within a minute: ${JSON.stringify(this.counts())}`);
      }
      await sleep(10);
    }
  }

  /** @param cut answers that the process which died was writing, as the runtime's log tells: they cannot be saved */
  counts(cut = 0): Counts {
    const saved = Math.min(cut, this.#counts.lost);
    const { right, refused, wrong, lost } = this.#counts;
    const codes = { ...this.#codes, ...(saved > 0 && { 'cut with its process': saved }) };
    return {
      tries: right + refused + wrong + lost,
      right,
      refused: refused + saved,
      wrong,
      lost: lost - saved,
      codes,
      recoveryMs: this.#recoveryMs,
      examples: this.#examples,
    };
  }

  #judge({ golden }: Question, answer: Answer): Verdict {
    if ('lost' in answer) return 'lost';
    if (answer.status === 200) return answer.text === golden ? 'right' : 'wrong';
    const code = codeOf(answer.text);
    if (code === undefined || !this.#allowed.has(code)) return 'wrong';
    this.#codes[code] = (this.#codes[code] ?? 0) + 1;
    return 'refused';
  }
}

function codeOf(text: string): string | undefined {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
