/** SavedModels read from their files, without TensorFlow. */
export { DamagedFile } from '../damaged-file.ts';
export { missingVariables, missingVariablesInTurns } from './missing-variables.ts';
export {
  compilingSignatures,
  type SignatureCosts,
  type SignatureOutputs,
  signatureCostsInTurns,
  writingSignatures,
  writingSignaturesInTurns,
} from './run-traits.ts';
export { withSavedModelFile } from './saved-model-file.ts';
export {
  LENGTH_DELIMITED,
  type Span,
  type WireFile,
} from './wire-file.ts';
