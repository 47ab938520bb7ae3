import type { Command } from 'commander';
import type { AccountFinding } from '../account/finding.ts';
import { CommandError } from '../errors.ts';
import { printResult, printStyled, table } from '../output/print.ts';
import { printableLines } from '../output/printable.ts';
import { whileWaiting } from '../output/progress.ts';
import { behind } from '../output/style.ts';
import { usd } from '../output/usd.ts';
import { doctorLines, findingLines } from '../terminal/doctor-lines.ts';

interface DoctorOptions {
  readonly json?: true;
  readonly account?: true;
  readonly app: string;
  readonly prices?: string;
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

/** @throws CommandError ACCOUNT_NOT_READY */
async function accountDoctor({ app, prices, json }: DoctorOptions): Promise<void> {
  const { readAssembly } = await import('../account/assembly.ts');
  const { checkAccount } = await import('../account/checks.ts');
  const { planOf } = await import('../estimate/plan.ts');
  const { originOf, readPrices } = await import('../estimate/prices.ts');
  const stacks = await readAssembly(app);
  const known = await readPrices(prices);
  const regions = [...new Set(stacks.map(({ region }) => region))];
  const findings: AccountFinding[] = [];
  for (const region of regions) {
    const ofRegion = stacks.filter((stack) => stack.region === region);
    const found = await whileWaiting('Asking AWS', () => checkAccount(ofRegion, region));
    const place = regions.length > 1 ? `${region ?? 'here'}: ` : '';
    findings.push(...found.map((finding) => ({ ...finding, what: `${place}${finding.what}` })));
  }
  const plan = planOf(stacks, known);
  const origin = originOf(known, regions);
  const price = (value: number | undefined) => (value === undefined ? '?' : usd(value));
  if (json) printResult(json, { findings, plan, prices: origin }, () => '');
  else {
    const makes = table(
      ['stack', 'makes', 'an hour', 'while'],
      plan.map(({ stack, makes, usdAnHour, usdWhile }) => [
        stack,
        makes,
        price(usdAnHour),
        usdWhile,
      ]),
    );
    const note = `Prices of ${origin}. An image that the app builds is pushed by the deployment.`;
    printStyled((style) => [
      ...findingLines(findings, style),
      '',
      ...printableLines(makes).split('\n'),
      ...behind('', note, style.width),
    ]);
  }
  const missing = findings.filter(({ ok }) => !ok).map(({ what }) => what);
  if (missing.length === 0) return;
  throw new CommandError(
    'ACCOUNT_NOT_READY',
    `The account is not ready for ${app}: ${missing.join(', ')}. See the findings above.`,
  );
}

async function machineDoctor(options: DoctorOptions): Promise<void> {
  const { machineFindings } = await import('../doctor/machine.ts');
  const findings = await whileWaiting('Looking at this machine', machineFindings);
  if (options.json) printResult(true, findings, () => '');
  else printStyled((style) => doctorLines(findings, style));
  const needed = findings.filter(({ ok, needed }) => needed && !ok);
  if (needed.length > 0) {
    throw new CommandError(
      'REQUIREMENT_MISSING',
      `serving needs: ${needed.map(({ what }) => what).join(', ')}. Install what is missing.`,
    );
  }
}
