/** A transform job as events: agents read objects from S3, send requests, instances decode and compute, agents write. */

import { uniform } from 'sagemaker-tfs/development/random';
import {
  GPU,
  MAX_CONCURRENT_TRANSFORMS,
  NETWORK_GBIT,
  OUTPUT_BYTES,
  S3_LATENCY,
  S3_RATE,
  VCPUS,
} from './assumptions.ts';
import { BatchStation, Simulation, Station } from './engine.ts';
import { logNormal } from './log-normal.ts';
import type { Measured } from './measured.ts';

/** How tiles lie on S3. */
export interface Packing {
  readonly name: string;
  /** Tiles in one object. */
  readonly imagesPerObject: number;
  /** Tiles in one request; an object is cut into several where it has more. */
  readonly imagesPerRequest: number;
  /** Bytes around each tile. */
  readonly framingBytes: number;
  /** CPU milliseconds for each tile to check the framing. */
  readonly framingCpuMs: number;
  /** False where the model server computes each request by itself. @default true */
  readonly serverBatching?: boolean;
}

/** The result of a run of the model. */
export interface Outcome {
  /** Tiles a second, all instances. */
  readonly throughput: number;
  readonly gets: number;
  readonly puts: number;
  /** Busy part of each resource, 0 to 1, in the order of their names. */
  readonly use: Readonly<Record<Resource, number>>;
}

/** What a tile has to pass. */
export type Resource = 'GPU' | 'CPU' | 'network' | 'S3 GET rate' | 'S3 PUT rate';

const SEED = 20_240_601;
/** Requests of each slot that are simulated; a first part fills the queues and is not counted. */
const REQUESTS_PER_SLOT = 20;
const WARM_UP = 0.25;

interface Instance {
  readonly cpu: Station;
  readonly network: Station;
  readonly gpu: BatchStation;
}

/** Simulates until the rate is steady. */
export function simulate(instances: number, packing: Packing, measured: Measured): Outcome {
  const simulation = new Simulation();
  const random = uniform(SEED);
  // A prefix has a rate of requests a second, so each request holds its gate for 1 / rate.
  const gate = { get: new Station(simulation, 1), put: new Station(simulation, 1) };
  const counts = { images: 0, gets: 0, puts: 0 };
  const times = { ...GPU, ...measured.model };
  const gpu = packing.serverBatching === false ? { ...times, maxBatch: 1 } : times;
  const total =
    instances * MAX_CONCURRENT_TRANSFORMS * REQUESTS_PER_SLOT * packing.imagesPerRequest;
  const fleet: Instance[] = Array.from({ length: instances }, () => ({
    cpu: new Station(simulation, VCPUS),
    network: new Station(simulation, 1),
    gpu: new BatchStation(simulation, gpu),
  }));
  const latency = (median: number) => logNormal(random, median, S3_LATENCY.sigma);
  const bytesMs = (bytes: number) => (bytes * 8) / (NETWORK_GBIT * 1e6);

  const read = (instance: Instance, images: number, done: () => void) => {
    counts.gets++;
    gate.get.serve(1_000 / S3_RATE.get, () => {
      simulation.after(latency(S3_LATENCY.getMs), () => {
        const bytes = images * (measured.imageBytes + packing.framingBytes);
        instance.network.serve(bytesMs(bytes), done);
      });
    });
  };
  const write = (instance: Instance, images: number, done: () => void) => {
    counts.puts++;
    gate.put.serve(1_000 / S3_RATE.put, () => {
      instance.network.serve(bytesMs(images * OUTPUT_BYTES), () => {
        simulation.after(latency(S3_LATENCY.putMs), done);
      });
    });
  };
  const request = (instance: Instance, images: number, done: () => void) => {
    const eachMs = measured.decodeMs + measured.imageCpuMs + packing.framingCpuMs;
    instance.cpu.serve(measured.requestCpuMs + images * eachMs, () => {
      instance.gpu.serve(images, () => {
        counts.images += images;
        done();
      });
    });
  };

  for (const instance of fleet) {
    if (packing.imagesPerObject === packing.imagesPerRequest) wholeObjects(instance);
    else shards(instance);
  }

  /** One request an object: a slot holds it from its GET to its PUT. */
  function wholeObjects(instance: Instance): void {
    const next = () => {
      const images = packing.imagesPerObject;
      read(instance, images, () => request(instance, images, () => write(instance, images, next)));
    };
    for (let slot = 0; slot < MAX_CONCURRENT_TRANSFORMS; slot++) {
      simulation.after(random() * S3_LATENCY.getMs, next);
    }
  }

  /** Many requests a shard: the agent reads the next shard while it sends the records of this one. */
  function shards(instance: Instance): void {
    let waiting = 0;
    let idle = MAX_CONCURRENT_TRANSFORMS;
    let reading = 0;
    const perShard = Math.ceil(packing.imagesPerObject / packing.imagesPerRequest);
    const fill = () => {
      while (waiting > 0 && idle > 0) {
        waiting--;
        idle--;
        request(instance, packing.imagesPerRequest, () => {
          idle++;
          fill();
        });
      }
      if (waiting < perShard && reading < 2) {
        reading++;
        read(instance, packing.imagesPerObject, () => {
          reading--;
          waiting += perShard;
          write(instance, packing.imagesPerObject, () => undefined);
          fill();
        });
      }
    };
    simulation.after(random() * S3_LATENCY.getMs, fill);
  }

  simulation.run(() => counts.images >= total * WARM_UP);
  const from = { at: simulation.now, ...counts, ...busyTimes(fleet) };
  simulation.run(() => counts.images >= total);
  const seconds = (simulation.now - from.at) / 1_000;
  const busy = busyTimes(fleet);
  const gets = (counts.gets - from.gets) / seconds;
  const puts = (counts.puts - from.puts) / seconds;
  const part = (milliseconds: number, servers: number) =>
    Math.min(1, milliseconds / 1_000 / seconds / servers);
  return {
    throughput: (counts.images - from.images) / seconds,
    gets,
    puts,
    use: {
      GPU: part(busy.gpu - from.gpu, instances),
      CPU: part(busy.cpu - from.cpu, instances * VCPUS),
      network: part(busy.network - from.network, instances),
      'S3 GET rate': Math.min(1, gets / S3_RATE.get),
      'S3 PUT rate': Math.min(1, puts / S3_RATE.put),
    },
  };
}

function busyTimes(fleet: readonly Instance[]) {
  const sum = (busy: (instance: Instance) => number) =>
    fleet.reduce((total, instance) => total + busy(instance), 0);
  return {
    gpu: sum(({ gpu }) => gpu.busy),
    cpu: sum(({ cpu }) => cpu.busy),
    network: sum(({ network }) => network.busy),
  };
}

/** Use from which a resource counts as what holds the job up. */
const FULL = 0.9;

/** What holds the job up: the fullest resource or, where none is full, the number of requests in flight. */
export function bottleneck({ use }: Outcome): Resource | 'agent concurrency' {
  const [name, most] = Object.entries(use).sort(([, a], [, b]) => b - a)[0] as [Resource, number];
  return most >= FULL ? name : 'agent concurrency';
}
