/** Entry of the bundled program. */
import { readerHasGone } from './interrupt.ts';
import { run } from './main.ts';

// What the AWS SDK says of coming Node versions is for its users: for those of this command it is not an error.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// Who reads may stop, as `| head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    readerHasGone();
  });
}

run(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
