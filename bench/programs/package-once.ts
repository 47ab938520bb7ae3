/** Packages one model: `SOURCE OUT LEVEL`. A process of its own, so that its memory can be seen. */
import { packageModel } from '@sagemaker-tfs/model-packaging';
import { peakBytes } from '../../tools/process-stats.ts';

const [source = '', out = '', level = '6'] = process.argv.slice(2);
packageModel({ source, out, level: Number(level) }).then(
  ({ bytes }) => {
    // Not ru_maxrss, which a child inherits from the process that started it.
    const maxResidentBytes = peakBytes(process.pid);
    process.stdout.write(JSON.stringify({ bytes, maxResidentBytes }));
  },
  (error) => {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
  },
);
