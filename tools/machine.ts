/** What pages with measurements say of the day and the machine. */
import { cpus, totalmem } from 'node:os';

/** Today's date in UTC, as `2026-01-31`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Processors and memory, as the pages name them. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() || 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}
