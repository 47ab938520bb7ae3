/** Imported for its effect: npz and TFRecord are summed up by the processor's carry-less multiplication. */
import { crc32, crc32c } from '@node-rs/crc32';
import { provideChecksums } from '@sagemaker-tfs/tensors';

provideChecksums({ crc32, crc32c });
