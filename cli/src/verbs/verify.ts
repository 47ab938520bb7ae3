import type { Command } from 'commander';
import { interruptSignal } from '../interrupt.ts';
import { printResult, printStyled } from '../output/print.ts';
import { sayStep } from '../output/progress.ts';
import { list } from './options.ts';

interface VerifyVerbOptions {
  readonly sample?: string[];
  readonly json?: true;
}

/** `verify`: loads an archive with real TensorFlow and runs it through the real runtime. */
export function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'load a model.tar.gz with real TensorFlow and send samples through the real runtime',
    )
    .argument('<archive>', 'model.tar.gz, or the folder that package --uncompressed wrote')
    .option(
      '--sample <file>',
      'a request body as clients send it; or JSON with file, contentType, accept and customAttributes (repeatable; default: made up)',
      list,
    )
    .option('--json', 'print the result as JSON')
    .action(verify);
}

async function verify(archive: string, options: VerifyVerbOptions): Promise<void> {
  const { renderVerify } = await import('@sagemaker-tfs/model-packaging');
  const { libraryHere } = await import('../serving/library.ts');
  const { verifyWithRuntime } = await import('../serving/verify.ts');
  const { sampleSources } = await import('../serving/sample-sources.ts');
  const samples = sampleSources(options.sample);
  const signal = interruptSignal();
  await libraryHere(signal);
  sayStep('loading the model with TensorFlow, and trying it out');
  const report = await verifyWithRuntime(archive, samples, { signal });
  if (process.stdout.isTTY && !options.json) {
    const { verifyLines } = await import('../terminal/package-lines.ts');
    printStyled((style) => verifyLines(report, style));
    return;
  }
  printResult(options.json, report, () => renderVerify(report));
}
