/** Whose account the credentials are for, and which stacks are of another. */
import { DescribeRegistryCommand, type ECRClient } from '@aws-sdk/client-ecr';
import type { PlannedStack } from './assembly.ts';
import type { AccountFinding } from './finding.ts';

/** Stacks that the credentials can look into, and what is to say about the others. */
interface Reachable {
  readonly stacks: readonly PlannedStack[];
  readonly findings: readonly AccountFinding[];
}

/**
 * Leaves out stacks of other accounts than that of the credentials: what is read would be of the wrong account.
 * @see https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeRegistry.html (registryId)
 */
export async function reachable(
  client: ECRClient,
  stacks: readonly PlannedStack[],
): Promise<Reachable> {
  // Where the app leaves the account to the credentials, it is theirs.
  if (stacks.every(({ account }) => account === undefined)) return { stacks, findings: [] };
  const found = await accountOf(client);
  if ('problem' in found) {
    const detail = `cannot be asked: ${found.problem}. What follows is of the account of the credentials`;
    return { stacks, findings: [{ what: 'account', ok: false, detail }] };
  }
  const own = found.account;
  const mine = stacks.filter(({ account = own }) => account === own);
  const others = new Set(stacks.flatMap(({ account = own }) => (account === own ? [] : account)));
  return {
    stacks: mine,
    findings: [...others].map((other) => {
      const names = stacks.filter(({ account }) => account === other).map(({ name }) => name);
      const detail = `not looked at (${names.join(', ')}): the credentials are for ${own}. Run it again with those of ${other}`;
      // With nothing looked at, nothing can be called ready.
      return { what: `account ${other}`, ok: mine.length > 0, detail };
    }),
  };
}

/** ECR names the account of whoever asks, and needs no client that the command has not. */
async function accountOf(client: ECRClient): Promise<{ account: string } | { problem: string }> {
  try {
    const { registryId } = await client.send(new DescribeRegistryCommand({}));
    return registryId === undefined ? { problem: 'ECR names none' } : { account: registryId };
  } catch (error) {
    const { name = 'Error', message = String(error) } = error as Partial<Error>;
    return { problem: `${name}: ${message}` };
  }
}
