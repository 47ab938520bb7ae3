/** The memory of this container. */
import { totalmem } from 'node:os';

/** Bytes: the limit of the control group (v1 or v2) if it has one, else the machine's memory. */
export function containerMemory(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return limit > 0 && limit < total ? limit : total;
}
