/** Single keys from a terminal. */

/** What each key does; Ctrl-C and Ctrl-D are always `interrupt`. */
export interface Keys {
  readonly on: Readonly<Record<string, () => void>>;
  readonly interrupt: () => void;
}

/** Ctrl-C and Ctrl-D, as a raw terminal sends them. */
const INTERRUPTS = ['\x03', '\x04'];

/** Listens to keys where stdin is a terminal. @returns a function that restores the terminal */
export function listenToKeys({ on, interrupt }: Keys): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const take = (text: string) => {
    for (const key of text) {
      if (INTERRUPTS.includes(key)) interrupt();
      else on[key.toLowerCase()]?.();
    }
  };
  stdin.setEncoding('utf8').on('data', take);
  stdin.setRawMode(true);
  stdin.resume();
  const release = () => {
    stdin.off('data', take);
    stdin.setRawMode(false);
    stdin.pause();
  };
  // A terminal that stays raw is of no use to anyone.
  process.once('exit', release);
  return () => {
    process.off('exit', release);
    release();
  };
}
