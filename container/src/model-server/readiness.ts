/** Whether something can serve, asked again and again in the background so that asking costs nothing. */

/** What a probe found out. */
export type ProbeResult =
  | { readonly state: 'ready' }
  /** Why it cannot serve yet. */
  | { readonly state: 'not ready'; readonly reason: string }
  /** Too busy to say: what was known last stays. */
  | { readonly state: 'unknown' };

/** Asks once. Does not reject. */
type ReadinessProbe = () => Promise<ProbeResult>;

/** Milliseconds between probes while not ready, and once ready. */
const WAITING_INTERVAL_MS = 100;
const READY_INTERVAL_MS = 2000;

/** The cached answer of a probe. */
export class Readiness {
  readonly #probe: ReadinessProbe;
  readonly #onChange: () => void;
  #reason: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Counts what was reported from outside; the answer of a probe that was sent before is out of date. */
  #reports = 0;

  /** @param options.onChange called whenever the reason appears, changes or goes */
  constructor(probe: ReadinessProbe, options: { reason: string; onChange: () => void }) {
    this.#probe = probe;
    this.#reason = options.reason;
    this.#onChange = options.onChange;
  }

  /** Why it cannot serve now; undefined if it can. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Begins to probe, for the first time after `delayMs`. */
  start(delayMs: number): void {
    this.#schedule(delayMs);
  }

  /** Says at once that it cannot serve; the next probe follows soon. */
  lost(reason: string): void {
    this.#reports += 1;
    this.#set(reason);
    this.#schedule(WAITING_INTERVAL_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const reports = this.#reports;
    const result = await this.#probe();
    if (reports === this.#reports && result.state !== 'unknown') {
      this.#set(result.state === 'ready' ? undefined : result.reason);
    }
    this.#schedule(this.#reason === undefined ? READY_INTERVAL_MS : WAITING_INTERVAL_MS);
  }

  #schedule(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#ask(), milliseconds);
  }

  #set(reason: string | undefined): void {
    if (reason === this.#reason || this.#stopped) return;
    this.#reason = reason;
    this.#onChange();
  }
}
