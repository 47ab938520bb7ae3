/** Lines of a terminal, and below them one that says what is being done. */
import { redraws } from '@sagemaker-tfs/libtensorflow/progress';
import { fitted, type Style } from '../output/style.ts';

export interface Screen {
  /** A line that stays. */
  write(line: string): void;
  /** Shows what is being done, below all lines until {@link done}; in a line of its own that stays, if nothing can be drawn over. */
  doing(what: string): void;
  done(): void;
}

const CLEAR_LINE = '\r\x1b[K';

export function screenOn(stream: NodeJS.WriteStream, style: Style): Screen {
  let below = '';
  const clear = () => {
    if (below !== '') stream.write(CLEAR_LINE);
  };
  return {
    write(line) {
      clear();
      stream.write(`${line}\n${below}`);
    },
    doing(what) {
      clear();
      const line = style.quiet(fitted(`${what} ...`, style.width - 1));
      below = redraws(stream) ? line : '';
      stream.write(below || `${line}\n`);
    },
    done() {
      clear();
      below = '';
    },
  };
}
