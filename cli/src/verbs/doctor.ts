import type { Command } from 'commander';
import { CommandError } from '../errors.ts';
import { printResult, table } from '../output/print.ts';

interface DoctorOptions {
  readonly json?: true;
  readonly account?: true;
  readonly app: string;
  readonly prices?: string;
}

/** One thing that was looked at. */
interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** What was found, or what to do. */
  readonly detail: string;
}

/** `doctor`: what is here for serving, packaging and deploying, and what to do where something is not. */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look at what this machine has for serving, packaging and deploying')
    .option(
      '--account',
      'instead, whether the AWS account is ready for a synthesized app, and what a first deployment costs (reads only)',
    )
    .option('--app <folder>', 'the synthesized app, for --account', 'cdk.out')
    .option('--prices <file>', 'price file, for --account (default: prices/us-east-1.json)')
    .option('--json', 'print the findings as JSON')
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  if (options.account) await accountDoctor(options);
  else await machineDoctor(options);
}

const findingsTable = (findings: readonly Finding[]) =>
  table(
    ['', 'what', 'found'],
    findings.map(({ ok, what, detail }) => [ok ? 'ok' : '--', what, detail]),
  );

/** @throws CommandError ACCOUNT_NOT_READY */
async function accountDoctor({ app, prices, json }: DoctorOptions): Promise<void> {
  const { readAssembly } = await import('../account/assembly.ts');
  const { checkAccount } = await import('../account/checks.ts');
  const { planOf } = await import('../account/plan.ts');
  const { readPrices } = await import('../estimate/prices.ts');
  const stacks = await readAssembly(app);
  const known = await readPrices(prices);
  const regions = [...new Set(stacks.map(({ region }) => region))];
  const findings: Finding[] = [];
  for (const region of regions) {
    const found = await checkAccount(
      stacks.filter((stack) => stack.region === region),
      region,
    );
    const place = regions.length > 1 ? `${region ?? 'here'}: ` : '';
    findings.push(...found.map((finding) => ({ ...finding, what: `${place}${finding.what}` })));
  }
  const plan = planOf(stacks, known);
  const usd = (value: number | undefined) => (value === undefined ? '?' : `$${value.toFixed(2)}`);
  printResult(json, { findings, plan, prices: { region: known.region, asOf: known.asOf } }, () =>
    [
      findingsTable(findings),
      table(
        ['stack', 'makes', 'an hour', 'while'],
        plan.map(({ stack, makes, usdAnHour, usdWhile }) => [
          stack,
          makes,
          usd(usdAnHour),
          usdWhile,
        ]),
      ),
      `Prices of ${known.asOf}, ${known.region}. An image that the app builds is pushed by the deployment.`,
    ].join('\n'),
  );
  const missing = findings.filter(({ ok }) => !ok).map(({ what }) => what);
  if (missing.length === 0) return;
  throw new CommandError(
    'ACCOUNT_NOT_READY',
    `The account is not ready for ${app}: ${missing.join(', ')}. See the findings above.`,
  );
}

async function machineDoctor(options: DoctorOptions): Promise<void> {
  const findings = await Promise.all([
    node(),
    library(),
    modelServer(),
    pip(),
    containerBuilder(),
    awsAccount(),
  ]);
  printResult(options.json, findings, () => findingsTable(findings));
  const needed = findings.slice(0, 2).filter(({ ok }) => !ok);
  if (needed.length > 0) {
    throw new CommandError(
      'REQUIREMENT_MISSING',
      `serving needs: ${needed.map(({ what }) => what).join(', ')}.`,
    );
  }
}

async function node(): Promise<Finding> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return {
    what: 'Node',
    ok,
    detail: ok ? process.version : `${process.version}; 20.19 or later is needed`,
  };
}

async function library(): Promise<Finding> {
  const { findLibrary } = await import('@sagemaker-tfs/libtensorflow');
  const what = 'TensorFlow library';
  try {
    const found = await findLibrary();
    if (found) return { what, ok: true, detail: `${found.directory} (${found.source})` };
  } catch (error) {
    return { what, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
  return (await pip()).ok
    ? { what, ok: true, detail: 'not here yet; the first serve fetches it with pip' }
    : {
        what,
        ok: false,
        detail:
          'not here, and no pip to fetch it; install Python 3 with pip, or set LIBTENSORFLOW_PATH',
      };
}

async function modelServer(): Promise<Finding> {
  const { findOnPath } = await import('../serving/model-server.ts');
  const found = findOnPath(process.env.PATH ?? '');
  return {
    what: 'TensorFlow Serving',
    ok: true,
    detail: found ?? 'not on PATH; the local model server stands in',
  };
}

async function pip(): Promise<Finding> {
  return program(
    'pip',
    ['python3', '-m', 'pip', '--version'],
    'not found; needed once, to fetch the TensorFlow library',
  );
}

async function containerBuilder(): Promise<Finding> {
  const builder = process.env.CDK_DOCKER ?? 'docker';
  const found = await program('container builder', [builder, '--version'], '');
  const needed = 'needed by cdk deploy, not to try models here';
  if (!found.ok) return { ...found, detail: `no ${builder} here; ${needed}` };
  return program(
    'container builder',
    [builder, 'info'],
    `${builder} is installed, but its daemon does not answer: start it; ${needed}`,
    found.detail,
  );
}

/** What a deployment fails for where nobody asked before. */
const QUOTA =
  "Ask Service Quotas for twice an endpoint's instances ('ml... for endpoint usage'): an update runs the old and the new ones together";

async function awsAccount(): Promise<Finding> {
  const ok = Boolean(process.env.AWS_ACCESS_KEY_ID ?? process.env.AWS_PROFILE);
  return {
    what: 'AWS credentials',
    ok,
    detail: ok
      ? `in the environment; --account looks into the account. ${QUOTA}`
      : 'none in the environment; needed by cdk deploy only',
  };
}

async function program(
  what: string,
  [name, ...args]: [string, ...string[]],
  advice: string,
  detail?: string,
): Promise<Finding> {
  const { execa } = await import('execa');
  const result = await execa(name, args, { reject: false, timeout: 10_000 });
  return result.exitCode === 0
    ? { what, ok: true, detail: detail ?? result.stdout.split('\n')[0] ?? name }
    : { what, ok: false, detail: advice };
}
