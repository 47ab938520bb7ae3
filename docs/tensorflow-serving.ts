/** `docs/tensorflow-serving.md`, written from the table of releases that the constructs read as well. */
import releases from '../container/image/tensorflow-serving.json' with { type: 'json' };
import { table } from '../tools/table.ts';

/** Text of `docs/tensorflow-serving.md`. */
export function tensorFlowServingText(): string {
  return `# Releases of TensorFlow Serving

Generated from \`container/image/tensorflow-serving.json\` by \`npm run docs\`; a test keeps it true. The facts are from TensorFlow
Serving's sources; the images themselves were not run.

The default is \`${releases.image}:${releases.default}\`, with \`-gpu\` for GPUs. Set \`TFS_BASE\` for another.

${table(
  [
    'version',
    'image',
    'glibc',
    'CUDA, cuDNN of the GPU image',
    'GPU code for',
    'ignores',
    'serves',
  ],
  releases.releases.map((release) => [
    release.versions.join(', '),
    release.base,
    release.glibc,
    `${release.cuda}, ${release.cudnn}`,
    release.gpuCode,
    release.lacks.map((flag) => `\`--${flag}\``).join(', ') || 'none',
    release.runs ? 'yes' : 'no: Node 24 and libvips need glibc 2.28',
  ]),
)}

A release prints and ignores flags that it does not know. A GPU newer than those in the table compiles its kernels at the
first start; \`CUDA_CACHE_PATH\` names a folder that keeps them as long as the container lives.
`;
}
