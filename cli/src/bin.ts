/** Entry of the bundled program. */
import { run } from './main.ts';

// What the AWS SDK says of coming Node versions is for its users: for those of this command it is not an error.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

run(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
