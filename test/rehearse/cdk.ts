/** The CDK's own command against the stand-in. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Account and region of the rehearsal; moto's own account. */
export const ACCOUNT = '123456789012';
export const REGION = 'us-east-1';

/** Environment in which every AWS client talks to the stand-in, with credentials that mean nothing. */
export function awsEnvironment(url: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: 'rehearsal',
    AWS_SECRET_ACCESS_KEY: 'rehearsal',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
}

function cdk(args: readonly string[], environment: NodeJS.ProcessEnv): void {
  console.log(`\n$ cdk ${args.join(' ')}`);
  const program = resolve('node_modules', '.bin', 'cdk');
  const { status } = spawnSync(program, [...args, '--no-notices'], {
    stdio: 'inherit',
    env: environment,
  });
  if (status !== 0) throw new Error(`cdk ${args[0]} ended with status ${status}`);
}

/** What `cdk deploy` needs to know. */
export interface Deployment {
  readonly url: string;
  /** Configuration of the app. */
  readonly config: string;
  /** Cloud assembly, kept apart from the project's own. */
  readonly output: string;
  /** Program instead of `docker`. */
  readonly docker: string;
}

/** `cdk bootstrap`, then `cdk deploy` of every stack. */
export function bootstrapAndDeploy({ url, config, output, docker }: Deployment): void {
  const environment = { ...awsEnvironment(url), CDK_DOCKER: docker };
  cdk(['bootstrap', `aws://${ACCOUNT}/${REGION}`], environment);
  const app = ['--context', `config=${config}`, '--output', output];
  cdk(['deploy', '--all', '--require-approval', 'never', ...app], environment);
}
