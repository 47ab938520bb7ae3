/** Starts the state machine that a `BatchTransform` deploys. */
import {
  paginateListStateMachines,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { CommandError } from '../../errors.ts';

/** An execution to start. */
interface ExecutionOptions {
  /** ARN or name of the state machine, or name of the stack that has its ARN as an output. */
  readonly stateMachine: string;
  readonly name: string;
  /** Settings that differ from the machine's own. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly region?: string | undefined;
}

/**
 * Starts an execution.
 * @returns its ARN
 * @throws CommandError STATE_MACHINE_NOT_FOUND
 */
export async function startExecution(sfn: SFNClient, options: ExecutionOptions): Promise<string> {
  const { executionArn = '' } = await sfn.send(
    new StartExecutionCommand({
      stateMachineArn: await findStateMachine(sfn, options),
      name: options.name,
      input: JSON.stringify(options.input),
    }),
  );
  return executionArn;
}

async function findStateMachine(
  sfn: SFNClient,
  { stateMachine, region }: ExecutionOptions,
): Promise<string> {
  if (stateMachine.startsWith('arn:')) return stateMachine;
  for await (const { stateMachines = [] } of paginateListStateMachines({ client: sfn }, {})) {
    const found = stateMachines.find(({ name }) => name === stateMachine);
    if (found?.stateMachineArn) return found.stateMachineArn;
  }
  const found = await stackOutput(stateMachine, region);
  if (found !== undefined) return found;
  throw new CommandError(
    'STATE_MACHINE_NOT_FOUND',
    `this region has neither a state machine ${stateMachine} nor a stack of that name with an output StateMachineArn. Check the name, and --region.`,
  );
}

/** The ARN that a stack of the app exports; undefined if there is no such stack or output. */
async function stackOutput(
  StackName: string,
  region: string | undefined,
): Promise<string | undefined> {
  const { CloudFormationClient, DescribeStacksCommand } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const cloudFormation = new CloudFormationClient(region === undefined ? {} : { region });
  try {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
    const outputs = Stacks[0]?.Outputs ?? [];
    return outputs.find(({ OutputKey = '' }) => OutputKey.endsWith('StateMachineArn'))?.OutputValue;
  } catch (error) {
    // The name is no stack's: the caller reports it.
    if ((error as Error).name === 'ValidationError') return undefined;
    throw error;
  } finally {
    cloudFormation.destroy();
  }
}
