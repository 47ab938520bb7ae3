/** `sagemaker-tfs`: one command, one file a verb in `verbs/`. */
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { CommandError, EXIT, explain, withFile } from './errors.ts';
import { formatItem } from './help-layout.ts';
import { isRead } from './interrupt.ts';
import { callable } from './output/command-name.ts';
import { printableJson, printableLines } from './output/printable.ts';
import { beQuiet } from './output/quiet.ts';
import { helpTarget, listWhatIsAllowed, requireKnownVerbs } from './usage.ts';
import { checkValues } from './values.ts';
import { addBatch } from './verbs/batch.ts';
import { addBench } from './verbs/bench.ts';
import { addCaptures } from './verbs/captures.ts';
import { addCompletion } from './verbs/completion.ts';
import { addDoctor } from './verbs/doctor.ts';
import { addEstimate } from './verbs/estimate.ts';
import { addExamples } from './verbs/examples.ts';
import { addInit } from './verbs/init.ts';
import { addInspect } from './verbs/inspect.ts';
import { addInvoke } from './verbs/invoke.ts';
import { addPackage } from './verbs/package.ts';
import { addRegister } from './verbs/register.ts';
import { addServe } from './verbs/serve.ts';
import { addTune } from './verbs/tune.ts';
import { addVerify } from './verbs/verify.ts';

/** The program with every verb. Each verb loads its work only when it runs, so that `--help` is instant. */
export function program(): Command {
  const command = new Command('sagemaker-tfs')
    .description('Package, serve, try and deploy TensorFlow models on SageMaker.')
    .version(packageJson.version)
    .option('-q, --quiet', 'no progress and no remarks on stderr')
    .configureHelp({ showGlobalOptions: true, formatItem });
  for (const add of [
    addInit,
    addInspect,
    addPackage,
    addVerify,
    addServe,
    addInvoke,
    addBench,
    addBatch,
    addRegister,
    addCaptures,
    addEstimate,
    addTune,
    addDoctor,
    addCompletion,
  ])
    add(command);
  checkValues(command);
  listWhatIsAllowed(command);
  addExamples(command);
  command.hook('preAction', () => {
    if (command.opts().quiet === true) beQuiet();
  });
  return command;
}

/** Runs the command line and returns the exit status: 0, 1 (the work failed) or 2 (wrong usage). */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const command = program();
    const help = helpTarget(command, argv);
    if (argv.includes('--help') || argv.includes('-h')) requireKnownVerbs(command, argv);
    if (help) help.outputHelp();
    else await command.parseAsync([...argv], { from: 'user' });
    return EXIT.ok;
  } catch (caught) {
    const error = withFile(caught, 'a file of the command');
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    report(error, argv.includes('--json'));
    return error instanceof CommandError ? error.exitStatus : exitStatusOf(error);
  }
}

/** Rooms below carry their own `exitStatus` on errors that are the user's usage. */
function exitStatusOf(error: unknown): number {
  const told = (error as { exitStatus?: unknown } | undefined)?.exitStatus;
  return typeof told === 'number' ? told : EXIT.failed;
}

function report(error: unknown, json: boolean): void {
  if (!isRead()) return;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (json) {
    const details = error instanceof CommandError ? error.details : undefined;
    const body = { error: explain(error), ...(typeof code === 'string' && { code }), ...details };
    process.stdout.write(`${printableJson(body)}\n`);
  }
  const verbs = program().commands.map((verb) => verb.name());
  process.stderr.write(`sagemaker-tfs: ${printableLines(callable(explain(error), verbs))}\n`);
}
