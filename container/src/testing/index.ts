/** What tests of other folders take: the runtime as a process, and inputs for its parsers. */
export {
  crafted,
  dictionaryPage,
  floatPage,
  packedPage,
  runPage,
} from '../codecs/parquet/crafted.ts';
export { signatureOf } from '../codecs/test-signatures.ts';
export { gradient, sizeByLibjpeg } from '../images/test-pictures.ts';
export { createModelDir } from './model-dir.ts';
export { MODEL_SERVER_BIN } from './model-server-bin.ts';
export { freePorts } from './ports.ts';
export { isAlive, type RuntimeProcess, startRuntimeProcess, until } from './runtime-process.ts';
