/** Names of transform jobs: as the machine makes them, and as its function and the command read them. */
import { isJobOf, isJobOfExecution, jobNameJsonata, MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { execute } from './asl.ts';

const ARN = 'arn:aws:states:us-east-1:111111111111:execution:nightly:first';

/** The name that JSONata makes. */
function nameOf(prefix: string, runId: string, execution: string, call: string): Promise<unknown> {
  const name = jobNameJsonata(prefix, ...([runId, execution, call].map(quoted) as Texts));
  const Output = `{% ${name} %}`;
  const machine = { StartAt: 'Name', States: { Name: { Type: 'Pass', Output } } };
  return execute(machine, {}, () => undefined);
}
type Texts = [string, string, string];
const quoted = (text: string) => JSON.stringify(text);

test.each(['b', 'batch', 'x'.repeat(MAX_JOB_PREFIX), 'long-'.repeat(20)])(
  'are names for SageMaker, whatever the construct is called: %s',
  async (prefix) => {
    const name = await nameOf(prefix, 'run', ARN, 'call');
    // https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
    expect(name).toMatch(/^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$/);
    expect(isJobOfExecution(prefix, ARN, String(name))).toBe(true);
    expect(isJobOf('run', ARN, String(name))).toBe(true);
  },
);

test('differ by run, execution and call', async () => {
  const names = await Promise.all([
    nameOf('batch', 'run', ARN, 'call'),
    nameOf('batch', 'other', ARN, 'call'),
    nameOf('batch', 'run', `${ARN}2`, 'call'),
    nameOf('batch', 'run', ARN, 'call2'),
  ]);
  expect(new Set(names).size).toBe(names.length);
  const own = names.map((name) => isJobOfExecution('batch', ARN, String(name)));
  expect(own).toEqual([true, true, false, true]);
});

test('of one construct are not those of another', async () => {
  const name = String(await nameOf('batch-b', 'run', ARN, 'call'));
  expect(isJobOfExecution('batch', ARN, name)).toBe(false);
  expect(isJobOfExecution('b', ARN, name)).toBe(false);
});
