import { Gauge, type Registry } from 'prom-client';

/** Adds the gauge of readiness: of a process, and of all of them together. */
export function addReadyGauge(registers: Registry[], isReady: () => boolean): void {
  new Gauge({
    name: 'sagemaker_tfs_ready',
    help: '1 while /ping answers 200.',
    registers,
    // Over several processes: 1 while all of them do.
    aggregator: 'min',
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
}
