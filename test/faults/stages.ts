/** The table of faults: what is tried, and on which runtime. */
import { attack, attackOnSeveral } from './attack.ts';
import {
  CLIENT_PATIENCE_SECONDS,
  descriptorsUsedUp,
  disconnecting,
  dribbling,
  neverReading,
  overload,
  pipelining,
  smuggling,
} from './client-faults.ts';
import { clockJumps } from './clock.ts';
import {
  askedWhileUnloaded,
  loadedAndUnloaded,
  onFullDisk,
  replaced,
  rewritten,
  withdrawn,
} from './file-faults.ts';
import type { Stage } from './ground.ts';
import { bad, containerKilled, killed, stopped } from './process-faults.ts';
import { threadOutOfMemory } from './thread-faults.ts';

/** Requests that are let in where there are too many. */
const LET_IN = 8;

/** All stages. */
export const STAGES: readonly Stage[] = [
  {
    name: 'processes',
    backends: ['grpc', 'rest', 'in-process'],
    faults: [killed('model server'), stopped('model server'), killed('worker'), stopped('worker')],
  },
  {
    name: 'files',
    backends: ['grpc', 'rest', 'in-process'],
    short: ['grpc', 'rest'],
    faults: [withdrawn, replaced, rewritten],
  },
  {
    name: 'the container',
    backends: ['grpc', 'rest'],
    short: [],
    faults: [containerKilled],
  },
  {
    name: 'threads',
    backends: ['grpc', 'in-process'],
    short: [],
    faults: [threadOutOfMemory],
  },
  {
    name: 'a bad model server',
    backends: ['grpc', 'rest'],
    short: ['grpc'],
    uses: 'proxy',
    faults: [bad('slow'), bad('refuse'), bad('cut'), bad('garbage')],
  },
  {
    name: 'clients',
    backends: ['grpc', 'rest', 'in-process'],
    short: ['grpc'],
    environment: { SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS: String(CLIENT_PATIENCE_SECONDS) },
    faults: [dribbling, neverReading, disconnecting, pipelining, smuggling],
  },
  {
    name: 'overload',
    backends: ['grpc', 'rest', 'in-process'],
    environment: { SAGEMAKER_TFS_MAX_REQUESTS_IN_FLIGHT: String(LET_IN) },
    faults: [overload(3, LET_IN), overload(10, LET_IN)],
  },
  {
    name: 'an attack on several processes',
    backends: ['grpc', 'rest'],
    short: ['grpc'],
    environment: { SAGEMAKER_TFS_PROCESSES: '2' },
    faults: [attack],
  },
  {
    name: 'an attack on several processes',
    backends: ['in-process'],
    environment: { SAGEMAKER_TFS_INSTANCE_COUNT: '2' },
    faults: [attack],
  },
  {
    name: 'several models',
    backends: ['grpc', 'rest'],
    short: ['grpc'],
    uses: 'several models',
    faults: [
      loadedAndUnloaded,
      askedWhileUnloaded,
      { ...killed('model server'), name: 'kill -9 of the model server of several models' },
      attackOnSeveral,
    ],
  },
  {
    name: 'several models',
    backends: ['in-process'],
    short: [],
    uses: 'several models',
    faults: [{ ...killed('worker'), name: 'kill -9 of the worker of several models' }],
  },
  {
    name: 'disk',
    backends: ['grpc', 'rest', 'in-process'],
    short: ['grpc'],
    uses: 'small disk',
    faults: [onFullDisk('worker'), onFullDisk('model server')],
  },
  {
    name: 'descriptors',
    backends: ['grpc', 'rest', 'in-process'],
    short: ['grpc'],
    descriptors: 256,
    faults: [descriptorsUsedUp],
  },
  {
    name: 'clock',
    backends: ['grpc', 'rest', 'in-process'],
    short: ['grpc'],
    uses: 'clock',
    faults: [clockJumps],
  },
];
