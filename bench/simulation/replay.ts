/**
 * A whole run as events, with what an estimate leaves to averages: instances that start at different times and work at
 * different speeds, shards in waves, what fails once more, spot instances that are taken back. It counts what is paid for,
 * so that `estimate` can be held against it.
 */
import { uniform } from 'sagemaker-tfs/development/random';
import { SPOT_LIFE_HOURS, SPREAD, START_MINUTES } from './assumptions.ts';
import { Simulation } from './engine.ts';
import { logNormal } from './log-normal.ts';

/** The roads to many answers. */
export type Road = 'batch' | 'packed' | 'worker';

/** What is replayed. */
export interface Run {
  readonly road: Road;
  readonly images: number;
  /** Images a second of one instance, mean. */
  readonly rate: number;
  readonly instances: number;
  /** Images of one object that is read. */
  readonly imagesPerObject: number;
  /** Of a worker, images of a part that it writes. @default 10,000 */
  readonly imagesPerPart?: number;
  /** Images of a job, and jobs at once; without them one job has all. */
  readonly shards?: { readonly images: number; readonly atOnce: number };
  /** Part of the images that fail, and are asked about once more behind the others on one instance. */
  readonly failed: number;
  /** Whether instances are taken back at any time. */
  readonly spot: boolean;
}

/** What is paid for. */
export interface Replayed {
  /** From the beginning to the end of all but what failed. */
  readonly hours: number;
  readonly instanceHours: number;
  /** The same of what failed, once more. */
  readonly againHours: number;
  readonly gets: number;
  readonly puts: number;
  readonly lists: number;
  /** Requests that a container logs. */
  readonly logged: number;
  readonly failures: number;
  /** Instances that were taken back. */
  readonly taken: number;
}

const SEED = 20_261_128;
const HOUR = 3_600_000;
const KEYS_PER_LIST = 1_000;
/** Images of one event, at most: as many as a worker's part has keys. */
const PIECE = 10_000;
/** Images of a sharded run's first job. */
const FIRST_SHARD = 1_000;
/** Ranges of a worker's run. */
const RANGES = 64;
/** Times that a sharded run lists its keys: its plan, inputs and outputs before and behind each job. */
const LOOKS = { single: 1, sharded: 5, worker: 2 } as const;

/** Replays it. */
export function replay(run: Run): Replayed {
  return new Replay(run).play();
}

/** Images that nobody has taken yet. */
interface Share {
  left: number;
}

/** A job under way. */
interface Job {
  readonly paidBy: 'main' | 'again';
  /** Called by each instance that finds nothing more. */
  readonly end: () => void;
}

class Replay {
  readonly #run: Run;
  readonly #simulation = new Simulation();
  readonly #random = uniform(SEED);
  readonly #paid = { main: 0, again: 0 };
  readonly #found = { gets: 0, puts: 0, logged: 0, failures: 0, taken: 0 };
  #hours = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  play(): Replayed {
    const { images, instances, shards, road, imagesPerObject } = this.#run;
    const mopUp = () => {
      this.#hours = this.#simulation.now / HOUR;
      const { failures } = this.#found;
      if (failures > 0) this.#job(failures, 1, 'again', () => undefined);
    };
    if (shards) this.#waves(shards, mopUp);
    else this.#job(images, instances, 'main', mopUp);
    this.#simulation.run(() => false);
    const looks = road === 'worker' ? LOOKS.worker : shards ? LOOKS.sharded : LOOKS.single;
    return {
      hours: this.#hours,
      instanceHours: this.#paid.main,
      againHours: this.#paid.again,
      ...this.#found,
      // A range of a worker ends with a file.
      puts: this.#found.puts + (road === 'worker' ? RANGES : 0),
      lists: Math.ceil((looks * images) / imagesPerObject / KEYS_PER_LIST),
    };
  }

  /** A small first shard, then the others, a number of them at once. */
  #waves({ images, atOnce }: NonNullable<Run['shards']>, done: () => void): void {
    const { instances } = this.#run;
    let left = this.#run.images - FIRST_SHARD;
    let running = 0;
    const more = () => {
      while (running < atOnce && left > 0) {
        const shard = Math.min(images, left);
        left -= shard;
        running++;
        this.#job(shard, instances, 'main', ended);
      }
    };
    const ended = () => {
      running--;
      if (left === 0 && running === 0) done();
      else more();
    };
    this.#job(FIRST_SHARD, instances, 'main', more);
  }

  /** The agents of a job share its objects, and all are paid for until the last is done; a worker has ranges of its own. */
  #job(images: number, instances: number, paidBy: Job['paidBy'], done: () => void): void {
    const begin = this.#simulation.now;
    let working = instances;
    const end = () => {
      if (--working > 0) return;
      if (!this.#isWorker()) this.#pay(paidBy, begin, instances);
      done();
    };
    const common: Share = { left: images };
    const upTo = (instance: number) => Math.floor((images * instance) / instances);
    for (let i = 0; i < instances; i++) {
      this.#instance(this.#isWorker() ? { left: upTo(i + 1) - upTo(i) } : common, { paidBy, end });
    }
  }

  #isWorker(): boolean {
    return this.#run.road === 'worker';
  }

  #pay(paidBy: Job['paidBy'], since: number, instances: number): void {
    this.#paid[paidBy] += ((this.#simulation.now - since) / HOUR) * instances;
  }

  /** From its start to the end of its share, or until it is taken back; then another one takes its place. */
  #instance(share: Share, job: Job): void {
    const simulation = this.#simulation;
    const random = this.#random;
    const begin = simulation.now;
    const speed = logNormal(random, this.#run.rate, SPREAD.instance);
    const life = this.#run.spot ? -Math.log(1 - random()) * SPOT_LIFE_HOURS * HOUR : Infinity;
    const leave = () => {
      if (this.#isWorker()) this.#pay(job.paidBy, begin, 1);
    };
    const next = () => {
      const piece = Math.min(this.#pieceSize(), share.left);
      if (piece === 0) {
        leave();
        job.end();
        return;
      }
      share.left -= piece;
      this.#read(piece);
      const ms = (piece / logNormal(random, speed, SPREAD.piece)) * 1_000;
      const until = begin + life - simulation.now;
      if (ms <= until) {
        simulation.after(ms, () => {
          this.#written(piece);
          next();
        });
        return;
      }
      simulation.after(Math.max(0, until), () => {
        this.#found.taken++;
        share.left += piece;
        leave();
        this.#instance(share, job);
      });
    };
    simulation.after(logNormal(random, START_MINUTES * 60_000, SPREAD.start), next);
  }

  #pieceSize(): number {
    const { road, imagesPerObject, imagesPerPart = PIECE } = this.#run;
    return road === 'packed' ? Math.min(PIECE, imagesPerObject) : imagesPerPart;
  }

  #read(images: number): void {
    this.#found.gets += Math.ceil(images / this.#run.imagesPerObject);
    if (!this.#isWorker()) this.#found.logged += images;
  }

  #written(images: number): void {
    const { failed, imagesPerObject } = this.#run;
    // A worker writes the part and its keys.
    this.#found.puts += this.#isWorker() ? 2 : Math.ceil(images / imagesPerObject);
    if (failed === 0) return;
    const skip = () => 1 + Math.floor(Math.log(1 - this.#random()) / Math.log(1 - failed));
    for (let at = skip(); at <= images; at += skip()) this.#found.failures++;
  }
}
