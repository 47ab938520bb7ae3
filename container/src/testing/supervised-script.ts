/** Shell scripts that run as `tensorflow_model_server` under a supervisor, each test in a directory of its own. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODEL_SERVER_PROGRAM } from '../model-server/command.ts';
import type { ModelServerEndpoint } from '../model-server/endpoint.ts';
import { Supervisor, type SupervisorOptions } from '../model-server/supervisor.ts';

/** Called once in a test file. */
export function useSupervisedScript() {
  let directory: string;
  let supervisor: Supervisor | undefined;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'supervisor-'));
  });
  afterEach(async () => {
    await supervisor?.stop(0);
    await rm(directory, { recursive: true, force: true });
  });
  const endpointIn = (): ModelServerEndpoint => ({
    host: '127.0.0.1',
    grpcPort: 0,
    restPort: 0,
    grpcSocket: join(directory, 'grpc.sock'),
  });
  return {
    get directory(): string {
      return directory;
    },
    get endpoint(): ModelServerEndpoint {
      return endpointIn();
    },
    /** Starts it. @param lines without the first, which names the shell */
    async start(
      lines: readonly string[],
      options: Omit<SupervisorOptions, 'instances' | 'env'>,
    ): Promise<Supervisor> {
      const program = join(directory, MODEL_SERVER_PROGRAM);
      await writeFile(program, ['#!/bin/sh', ...lines, ''].join('\n'));
      await chmod(program, 0o755);
      supervisor = new Supervisor({
        instances: [{ flags: [], endpoint: endpointIn() }],
        env: { PATH: `${directory}:${process.env.PATH}` },
        ...options,
      });
      supervisor.start();
      return supervisor;
    },
  };
}
