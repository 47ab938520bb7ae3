/** Every benchmark, in the order of the report. */
import { batchLocal } from './batch-local.ts';
import { batching } from './batching.ts';
import { codecs } from './codecs.ts';
import { coldStart } from './cold-start.ts';
import { detection } from './detection.ts';
import { eventLoop } from './event-loop.ts';
import { fullLoad } from './full-load.ts';
import { graphOptions } from './graph-options.ts';
import { imageBytes } from './image-bytes.ts';
import { inFlight } from './in-flight.ts';
import { jsonPassThrough } from './json-pass-through.ts';
import { largeBodies } from './large-bodies.ts';
import type { Bench } from './lib/bench.ts';
import { manyImages } from './many-images.ts';
import { memory } from './memory.ts';
import { modelServerCall } from './model-server-call.ts';
import { packaging } from './packaging.ts';
import { poisonedBatches } from './poisoned-batches.ts';
import { realModels } from './real-models.ts';
import { resizing } from './resizing.ts';
import { smallImage } from './small-image.ts';
import { synth } from './synth.ts';
import { warmUp } from './warm-up.ts';

export const BENCHES: readonly Bench[] = [
  smallImage,
  detection,
  manyImages,
  jsonPassThrough,
  modelServerCall,
  realModels,
  codecs,
  resizing,
  memory,
  eventLoop,
  largeBodies,
  coldStart,
  imageBytes,
  batching,
  poisonedBatches,
  inFlight,
  fullLoad,
  graphOptions,
  batchLocal,
  warmUp,
  packaging,
  synth,
];
