/** Source of a handler that logs `begun`, and answers once there is a file at `path`. */
export function heldHandler(path: string): string {
  return `
    import { existsSync } from 'node:fs';
    export async function handler(data, { log }) {
      log.info('begun');
      while (!existsSync(${JSON.stringify(path)})) await new Promise((resolve) => setTimeout(resolve, 20));
      return { done: true };
    }`;
}
