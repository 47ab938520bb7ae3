import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAssembly } from '../account/assembly.ts';
import { sagemakerTfs } from '../batch/test-support.ts';
import { fires } from './cron.ts';
import { planOf } from './plan.ts';
import { originOf, readPrices } from './prices.ts';
import { apisOf, weekOf } from './week.ts';

/** Days of a month on which an expression fires at 8 o'clock. */
function days(expression: string, month: string): number[] {
  return Array.from({ length: 31 }, (_, i) => i + 1).filter((day) => {
    const time = new Date(`${month}-01T08:00:00Z`);
    time.setUTCDate(day);
    return time.getUTCDate() === day && fires(expression, time);
  });
}

describe('a cron expression', () => {
  // November 2026 begins on a Sunday.
  test.each([
    [
      'cron(0 8 ? * MON-FRI *)',
      [2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27, 30],
    ],
    ['cron(0 8 ? * 1 *)', [1, 8, 15, 22, 29]],
    ['cron(0 8 ? * SAT-SUN *)', [1, 7, 8, 14, 15, 21, 22, 28, 29]],
    ['cron(0 8 ? * L *)', [7, 14, 21, 28]],
    ['cron(0 8 ? * FRIL *)', [27]],
    ['cron(0 8 ? * 2#3 *)', [16]],
    ['cron(0 8 L * ? *)', [30]],
    ['cron(0 8 L-3 * ? *)', [27]],
    ['cron(0 8 1W * ? *)', [2]],
    ['cron(0 8 LW NOV ? 2026)', [30]],
    ['cron(0 8 1/10 * ? *)', [1, 11, 21]],
    ['cron(0/15 */4 1,31 11-12 ? 2026-2030)', [1]],
    ['cron(0 8 * JAN ? *)', []],
    ['cron(1 8 * * ? *)', []],
    ['cron(0 8 * * ? 2025)', []],
  ])('%s', (expression, expected) => {
    expect(days(expression, '2026-11')).toEqual(expected);
  });
});

describe('a week', () => {
  let app: string;
  beforeEach(async () => {
    app = await mkdtemp(join(tmpdir(), 'week-'));
    const stack = (templateFile: string) => ({
      type: 'aws:cloudformation:stack',
      environment: 'aws://unknown-account/unknown-region',
      properties: { templateFile },
    });
    const artifacts = { s: stack('s.json') };
    await writeFile(join(app, 'manifest.json'), JSON.stringify({ artifacts }));
  });
  afterEach(() => rm(app, { recursive: true, force: true }));

  async function week(
    from: string,
    scaling: object | undefined,
    isOn = true,
    type = 'ml.c5.large',
  ) {
    const variant = { VariantName: 'AllTraffic', InstanceType: type, InitialInstanceCount: 3 };
    const Resources = {
      C: {
        Type: 'AWS::SageMaker::EndpointConfig',
        Properties: { ProductionVariants: [variant] },
      },
      ...(isOn && { E: { Type: 'AWS::SageMaker::Endpoint', Properties: {} } }),
      ...(scaling && {
        T: {
          Type: 'AWS::ApplicationAutoScaling::ScalableTarget',
          Properties: { ResourceId: 'endpoint/e/variant/AllTraffic', ...scaling },
        },
      }),
    };
    await writeFile(join(app, 's.json'), JSON.stringify({ Resources }));
    const prices = { ...(await readPrices()), instanceHour: { 'ml.c5.large': 2 } };
    const [found] = weekOf(await readAssembly(app), prices, new Date(from));
    return found;
  }

  test('with an API, whose calls are paid for', async () => {
    const Resources = {
      A: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
      J: { Type: 'AWS::ApiGateway::Authorizer', Properties: {} },
    };
    await writeFile(join(app, 's.json'), JSON.stringify({ Resources }));
    const prices = { ...(await readPrices()), apiCalls1000000: 4 };
    expect(apisOf(await readAssembly(app), prices)).toEqual([
      { stack: 's', usdPerMillionCalls: 4, checksTokens: true },
    ]);
    const { stdout } = await sagemakerTfs(['estimate', '--app', app]);
    expect(stdout).toContain('API of s: $3.50 for a million calls, and the function');
  });

  test('of components, whose instances SageMaker counts by itself', async () => {
    const prices = { ...(await readPrices()), instanceHour: { 'ml.c5.large': 2 } };
    const shared = async (MinInstanceCount: number) => {
      const ManagedInstanceScaling = { Status: 'ENABLED', MinInstanceCount, MaxInstanceCount: 3 };
      const variant = { VariantName: 'AllTraffic', InstanceType: 'ml.c5.large' };
      const ProductionVariants = [{ ...variant, InitialInstanceCount: 1, ManagedInstanceScaling }];
      const Resources = {
        C: { Type: 'AWS::SageMaker::EndpointConfig', Properties: { ProductionVariants } },
        E: { Type: 'AWS::SageMaker::Endpoint', Properties: {} },
      };
      await writeFile(join(app, 's.json'), JSON.stringify({ Resources }));
      return readAssembly(app);
    };
    const monday = new Date('2026-11-02');
    expect(weekOf(await shared(0), prices, monday)).toMatchObject([
      {
        hours: [0, 504],
        usd: [0, 1008],
        note: expect.stringMatching(/shared by components; asleep it costs nothing/) as string,
      },
    ]);
    const awake = await shared(2);
    expect(weekOf(awake, prices, monday)).toMatchObject([
      { hours: [336, 504], usd: [672, 1008], note: 'shared by components' },
    ]);
    expect(awake[0]?.fleets).toMatchObject([{ atFirst: 1, most: 6 }]);
  });

  test('of provisioned concurrency, which is paid for without requests', async () => {
    const serverless = async (ProvisionedConcurrency?: number) => {
      const ServerlessConfig = {
        ...{ MemorySizeInMB: 6_144, MaxConcurrency: 4 },
        ...(ProvisionedConcurrency && { ProvisionedConcurrency }),
      };
      const ProductionVariants = [{ VariantName: 'AllTraffic', ServerlessConfig }];
      const Resources = {
        C: { Type: 'AWS::SageMaker::EndpointConfig', Properties: { ProductionVariants } },
        E: { Type: 'AWS::SageMaker::Endpoint', Properties: {} },
      };
      await writeFile(join(app, 's.json'), JSON.stringify({ Resources }));
      return readAssembly(app);
    };
    const prices = await readPrices();
    const monday = new Date('2026-11-02');
    const known = { ...prices, provisionedGBSecond: 0.00001 };
    const dollars = 168 * 3_600 * 12 * 0.00001;
    expect(weekOf(await serverless(), known, monday)).toMatchObject([{ usd: [0, 0] }]);
    const warm = await serverless(2);
    expect(weekOf(warm, known, monday)).toMatchObject([
      { usd: [expect.closeTo(dollars), expect.closeTo(dollars)] },
    ]);
    expect(planOf(warm, known).map(({ usdAnHour }) => usdAnHour)).toEqual([
      0,
      expect.closeTo(dollars / 168),
    ]);
    expect(planOf(warm, prices).at(-1)).toMatchObject({
      makes: 'provisioned concurrency of 2 x 6 GB',
      usdAnHour: undefined,
    });
    const { stdout } = await sagemakerTfs(['estimate', '--app', app]);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/provisioned concurrency of 2 x 6 GB/);
    expect(stdout).toContain('In all, without what has no price here: $0.00');
  });

  test('says where its prices are from, and which stacks are elsewhere', async () => {
    const prices = await readPrices();
    expect(originOf(prices, ['us-east-1', undefined])).toMatch(/from memory .*, us-east-1$/);
    expect(originOf(prices, ['us-east-1', 'cn-north-1'])).toMatch(
      /us-east-1; stacks in cn-north-1 have other prices, in China in CNY$/,
    );
  });

  test('of several types, between the cheapest and the dearest', async () => {
    const InstancePools = ['ml.c5.large', 'ml.c5.xlarge'].map((InstanceType) => ({ InstanceType }));
    const variant = { VariantName: 'AllTraffic', InitialInstanceCount: 2, InstancePools };
    const Resources = {
      C: {
        Type: 'AWS::SageMaker::EndpointConfig',
        Properties: { ProductionVariants: [variant] },
      },
      E: { Type: 'AWS::SageMaker::Endpoint', Properties: {} },
    };
    await writeFile(join(app, 's.json'), JSON.stringify({ Resources }));
    const stacks = await readAssembly(app);
    const prices = {
      ...(await readPrices()),
      instanceHour: { 'ml.c5.large': 2, 'ml.c5.xlarge': 5 },
    };
    expect(weekOf(stacks, prices, new Date('2026-11-02'))).toMatchObject([
      { instanceType: 'ml.c5.large or ml.c5.xlarge', hours: [336, 336], usd: [672, 1680] },
    ]);
    expect(stacks[0]?.fleets.map(({ type, atFirst, most }) => [type, atFirst, most])).toEqual([
      ['ml.c5.large', 2, 4],
      ['ml.c5.xlarge', 0, 4],
    ]);
  });

  const action = (Schedule: string, MinCapacity: number, MaxCapacity: number) => ({
    Schedule,
    Timezone: 'Europe/Berlin',
    ScalableTargetAction: { MinCapacity, MaxCapacity },
  });

  test('of a fixed number of instances, of none, and of a type without a price', async () => {
    expect(await week('2026-11-02', undefined)).toMatchObject({
      hours: [504, 504],
      usd: [1008, 1008],
    });
    expect(await week('2026-11-02', undefined, false)).toMatchObject({
      usd: [0, 0],
      note: 'not enabled',
    });
    const unknown = await week('2026-11-02', undefined, true, 'ml.new.large');
    expect(unknown).toMatchObject({ hours: [504, 504], usd: undefined });
  });

  test('has the limits that hold at each time, in the time zone', async () => {
    const scaling = {
      MinCapacity: 1,
      MaxCapacity: 4,
      ScheduledActions: [
        action('cron(0 8 ? * MON-FRI *)', 2, 8),
        action('cron(0 20 ? * MON-FRI *)', 1, 1),
      ],
    };
    // Five days of 12 hours; before the first Monday the limits are those of the Friday before.
    const hours = [5 * 12 * 2 + (168 - 60), 5 * 12 * 8 + (168 - 60)];
    const [fewest, most] = (await week('2026-11-02', scaling))?.hours ?? [];
    expect(fewest).toBeCloseTo(hours[0] as number);
    expect(most).toBeCloseTo(hours[1] as number);
  });

  test('in which the clocks go back has an hour more of the night', async () => {
    const night = {
      MinCapacity: 0,
      MaxCapacity: 1,
      ScheduledActions: [action('cron(0 0 ? * SUN *)', 1, 1), action('cron(0 6 ? * SUN *)', 0, 1)],
    };
    // Europe's clocks go back on 25 October 2026 and forward on 28 March 2027.
    expect((await week('2026-10-19', night))?.hours[0]).toBeCloseTo(7);
    expect((await week('2026-11-02', night))?.hours[0]).toBeCloseTo(6);
    expect((await week('2027-03-22', night))?.hours[0]).toBeCloseTo(5);
  });

  test('changes once at a moment', async () => {
    const once = {
      MinCapacity: 1,
      MaxCapacity: 2,
      ScheduledActions: [action('at(2026-11-03T01:00:00)', 0, 2)],
    };
    expect((await week('2026-11-02', once))?.hours[0]).toBeCloseTo(24);
  });

  test('is a table, and the command wants an app or images', async () => {
    await week('2026-11-02', undefined, true, 'ml.g4dn.xlarge');
    const { stdout, exitCode } = await sagemakerTfs(['estimate', '--app', app]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ s +│ AllTraffic +│ ml\.g4dn\.xlarge +│ 504 +│ \$\d+\.\d\d /);
    expect(stdout).toMatch(/^In all: \$\d+\.\d\d for the week from /m);
    const json = await sagemakerTfs(['estimate', '--app', app, '--json']);
    expect(JSON.parse(json.stdout).variants).toMatchObject([
      { variant: 'AllTraffic', hours: [504, 504] },
    ]);
    for (const args of [[], ['--app', app, '--images', '3']]) {
      const wrong = await sagemakerTfs(['estimate', ...args]);
      expect(wrong).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('one of --images and --app'),
      });
    }
  });
});
