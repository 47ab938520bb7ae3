/** A bar of block characters. */
import { isDumb } from '@sagemaker-tfs/libtensorflow/progress';

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Columns for bars: none with `TERM=dumb`, as their blocks would be read out. */
export function roomForBars(most: number): number {
  return isDumb() ? 0 : most;
}

/** A bar of `share` of `room` columns, in eighths of a column. */
export function bar(share: number, room: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share || 0)) * room * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
