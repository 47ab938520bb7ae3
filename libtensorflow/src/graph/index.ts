/** SavedModels read from their files, without TensorFlow. */
export { DamagedFile } from '../damaged-file.ts';
export { missingVariables } from './missing-variables.ts';
export {
  compilingSignatures,
  type SignatureOutputs,
  varyingSignaturesInTurns,
  writingSignatures,
  writingSignaturesInTurns,
} from './run-traits.ts';
export {
  LENGTH_DELIMITED,
  type Span,
  type WireFile,
  withWireFile,
} from './wire-file.ts';
