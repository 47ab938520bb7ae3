/** Entry of the bundled program. */
import { EXIT } from './errors.ts';
import { isResultLost, outputHasFailed, readerHasGone } from './interrupt.ts';
import { run } from './main.ts';

// What the AWS SDK says of coming Node versions is for its users: for those of this command it is not an error.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Who reads may stop, as `| head` does. Progress that cannot be written ends no work.
    if (error.code === 'EPIPE') readerHasGone();
    else if (stream === process.stdout) outputHasFailed(error);
  });
}

run(process.argv.slice(2)).then((status) => {
  process.exitCode = isResultLost() ? EXIT.failed : status;
});
