import { type Command, Option } from 'commander';
import { printResult } from '../output/print.ts';
import { sayStep } from '../output/progress.ts';
import type { Approval } from '../register/package-request.ts';
import { keyValue, list } from './options.ts';

interface RegisterVerbOptions {
  readonly group: string;
  readonly to: string;
  readonly image: string;
  readonly verify?: string;
  readonly bench?: string;
  readonly metrics?: string;
  readonly approval: Approval;
  readonly description?: string;
  readonly env?: Record<string, string>;
  readonly contentType?: string[];
  readonly accept?: string[];
  readonly instanceType?: string[];
  readonly region?: string;
  readonly json?: true;
}

/** `register`: a packaged model as a version in SageMaker's Model Registry. */
export function addRegister(program: Command): void {
  program
    .command('register')
    .description(
      'put a model.tar.gz into the Model Registry of SageMaker, with its fingerprint and what verify and bench found',
    )
    .argument('<archive>', 'model.tar.gz that package wrote')
    .requiredOption('--group <name>', 'model package group; made if there is none')
    .requiredOption('--to <s3 uri>', 'prefix for the archive and its metrics')
    .requiredOption('--image <uri>', 'the serving image in ECR')
    .option('--verify <file>', 'what verify --json printed of this archive')
    .option('--bench <file>', 'what bench --json printed of this archive')
    .option('--metrics <file>', "metrics of the model's quality, a JSON object")
    .addOption(
      new Option('--approval <status>', 'whether the version may be deployed')
        .choices(['pending', 'approved', 'rejected'])
        .default('pending'),
    )
    .option('--description <text>', 'what this version is')
    .option('--env <NAME=VALUE>', 'a variable of the container (repeatable)', keyValue)
    .option(
      '--content-type <type>',
      'media type that the model takes (repeatable; default: application/json)',
      list,
    )
    .option(
      '--accept <type>',
      'media type that it answers (repeatable; default: application/json)',
      list,
    )
    .option('--instance-type <type>', 'instance type that suits it (repeatable)', list)
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .action(runRegister);
}

async function runRegister(archive: string, options: RegisterVerbOptions): Promise<void> {
  const { withAws } = await import('../batch/aws/clients.ts');
  const { register } = await import('../register/register.ts');
  sayStep('reading the archive');
  const { verify, bench, metrics } = options;
  const registered = await withAws(options.region, (clients) =>
    register(clients, {
      archive,
      group: options.group,
      to: options.to,
      image: options.image,
      approval: options.approval,
      description: options.description,
      evidence: {
        ...(verify !== undefined && { verify }),
        ...(bench !== undefined && { bench }),
        ...(metrics !== undefined && { metrics }),
      },
      environment: options.env ?? {},
      contentTypes: options.contentType ?? ['application/json'],
      responseTypes: options.accept ?? ['application/json'],
      instanceTypes: options.instanceType ?? [],
    }),
  );
  printResult(options.json, registered, () =>
    [
      `${registered.isNew ? 'Registered' : 'Nothing to do: the newest version is this model with this image, these variables and types,'} ${registered.modelPackageArn}`,
      `${registered.status}, fingerprint ${registered.fingerprint}`,
      registered.archiveUri,
    ].join('\n'),
  );
}
