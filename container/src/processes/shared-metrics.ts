/** The metrics of all workers as one page. */
import type { Worker } from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { MetricsPage } from '../observability/metrics-page.ts';
import { type MetricJson, openMetricsText } from '../observability/open-metrics.ts';
import { addReadyGauge } from '../observability/ready-gauge.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';
import type { WorkerSupervisor } from './worker-supervisor.ts';

/** How long a worker may take to answer; one whose event loop is held up is left out. */
const PATIENCE_MS = 2000;

/** Adds up what the workers count, and adds what the primary knows of them. */
export function sharedMetrics(workers: WorkerSupervisor): MetricsPage {
  const own = ownMetrics(workers);
  let asked = 0;
  return {
    async text(format) {
      asked += 1;
      const answers = await Promise.all(workers.ready.map((worker) => metricsOf(worker, asked)));
      const mine = (await own.getMetricsAsJSON()) as unknown as MetricJson[];
      const all = [mine, ...answers.filter((answer) => answer.length > 0)];
      return format === 'openmetrics'
        ? openMetricsText(all)
        : AggregatorRegistry.aggregate(all).metrics();
    },
  };
}

function ownMetrics(workers: WorkerSupervisor): Registry {
  const registers = [new Registry()];
  addReadyGauge(registers, () => workers.ready.length > 0);
  new Gauge({
    name: 'sagemaker_tfs_processes_ready',
    help: 'Processes of the runtime whose models can be called.',
    registers,
    collect() {
      this.set(workers.ready.length);
    },
  });
  new Counter({
    name: 'sagemaker_tfs_process_restarts_total',
    help: 'Processes of the runtime that ended and were started again.',
    registers,
    collect() {
      this.reset();
      this.inc(workers.restarts);
    },
  });
  return registers[0] as Registry;
}

/** Empty where it does not answer. */
function metricsOf(worker: Worker, id: number): Promise<MetricJson[]> {
  return new Promise((resolve) => {
    const settle = (metrics: MetricJson[]) => {
      clearTimeout(timer);
      worker.removeListener('message', onMessage);
      worker.removeListener('exit', onExit);
      resolve(metrics);
    };
    const onMessage = (message: WorkerMessage) => {
      if (message.kind === 'metrics' && message.id === id) settle(message.metrics);
    };
    const onExit = () => settle([]);
    const timer = setTimeout(settle, PATIENCE_MS, []);
    worker.on('message', onMessage).once('exit', onExit);
    const request: PrimaryMessage = { kind: 'metrics', id };
    worker.send(request, (error) => error && settle([]));
  });
}
