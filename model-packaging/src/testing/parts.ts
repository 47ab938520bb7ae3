/** The readers of files from outside, which fuzzing takes by themselves. */
export { PackagingError } from '../errors.ts';
export { readSavedModel } from '../saved-model/saved-model.ts';
export { readTable } from '../saved-model/sstable.ts';
export { readCheckpoint } from '../saved-model/variables.ts';
export { extractArchive } from '../source/extract.ts';
export { extractZip } from '../source/extract-zip.ts';
