/** The serving image. */
import * as z from 'zod';

const variant = z.enum(['cpu', 'gpu', 'in-process', 'in-process-gpu']);

/** Built here, or in ECR already. */
export const image = z.union([
  z.strictObject({
    directory: z.string().optional().describe('Build context. Default: `container/`.'),
    buildArgs: z
      .record(z.string(), z.string())
      .optional()
      .describe('Docker build arguments, such as `NODE_BASE`. Default: none.'),
    variant: variant
      .optional()
      .describe(
        'What to build; `in-process` (CPUs) and `in-process-gpu` have no TensorFlow Serving between. Default: `gpu` for models on GPU instances, `in-process` on Graviton, where the image is built for arm64, `cpu` for others and for an image in ECR.',
      ),
  }),
  z.strictObject({
    uri: z.string().min(1).describe('An image that is in ECR already.'),
    variant: variant
      .default('cpu')
      .describe(
        'What the image holds; `in-process` (CPUs) and `in-process-gpu` have no TensorFlow Serving between.',
      ),
    cuda: z
      .string()
      .regex(/^\d+\.\d+$/, 'write MAJOR.MINOR')
      .optional()
      .describe('CUDA of an image for GPUs that is in ECR. Default: that of the public images.'),
    architecture: z
      .enum(['x86_64', 'arm64'])
      .optional()
      .describe('Processor of an image that is in ECR. Default: `x86_64`.'),
  }),
]);
