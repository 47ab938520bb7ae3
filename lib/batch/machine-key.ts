/**
 * A key for what Step Functions keeps of a state machine: its definition, and the history of its runs.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
 */
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnStateMachine, type StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { ArnFormat, Stack } from 'aws-cdk-lib/core';
import { allowLogDelivery, encryptionKeyOf, formerKeysOf } from '../encryption.ts';

/** Name under which Step Functions tells KMS which machine a call is for. */
const CONTEXT = 'kms:EncryptionContext:aws:states:stateMachineArn';

/** Keys that a machine's runs may be under: its own, and those of runs from before. */
export function keysOfMachine(machine: StateMachine): IKey[] {
  const key = encryptionKeyOf(machine);
  return [...(key ? [key] : []), ...formerKeysOf(machine)];
}

/**
 * Encrypts a machine with the key of the construct around it, and lets its role use the key for machines of this
 * account and region. The CDK's own `encryptionConfiguration` asks for the machine's name in the role's policy, which
 * CloudFormation chooses later, so that no run could start. Without a key the template says so: one that is taken away
 * is not kept.
 */
export function encryptMachine(machine: StateMachine): void {
  const { defaultChild } = machine.node;
  if (!(defaultChild instanceof CfnStateMachine)) return;
  const own = encryptionKeyOf(machine);
  defaultChild.encryptionConfiguration = own
    ? { type: 'CUSTOMER_MANAGED_KMS_KEY', kmsKeyId: own.keyArn }
    : { type: 'AWS_OWNED_KEY' };
  for (const key of keysOfMachine(machine)) {
    grantKey(machine, machine, key, ['kms:Decrypt', 'kms:GenerateDataKey']);
    grantLogKeys(machine, key);
    allowLogDelivery(machine, key);
  }
}

/** The data keys of a machine's log. */
function grantLogKeys(machine: StateMachine, key: IKey): void {
  const logs = Stack.of(machine).formatArn({
    service: 'logs',
    resource: '*',
    arnFormat: ArnFormat.NO_RESOURCE_NAME,
  });
  Grant.addToPrincipal({
    grantee: machine,
    actions: ['kms:GenerateDataKey'],
    resourceArns: [key.keyArn],
    conditions: { StringEquals: { 'kms:EncryptionContext:SourceArn': logs } },
  });
}

/** Lets `grantee` see input and output of the machine's runs. To start and stop them, callers need nothing of the key. */
export function grantReadRuns(grantee: IGrantable, machine: StateMachine): Grant[] {
  return keysOfMachine(machine).map((key) => grantKey(grantee, machine, key, ['kms:Decrypt']));
}

function grantKey(grantee: IGrantable, machine: StateMachine, key: IKey, actions: string[]): Grant {
  const machines = Stack.of(machine).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return Grant.addToPrincipal({
    grantee,
    actions,
    resourceArns: [key.keyArn],
    conditions: { ArnLike: { [CONTEXT]: machines } },
  });
}
