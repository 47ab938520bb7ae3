import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import pino from 'pino';
import { readEnvironment } from '../environment.ts';
import { freePorts } from '../testing/ports.ts';
import { startMetricsServer } from './metrics-server.ts';

test('pages of other sites are refused where the runtime refuses them', async () => {
  for (const foreignPages of ['refuse', 'allow']) {
    const { environment } = readEnvironment({
      SAGEMAKER_TFS_METRICS_PORT: String(await freePorts(1)),
      SAGEMAKER_TFS_FOREIGN_PAGES: foreignPages,
      SAGEMAKER_TFS_BIND_ADDRESS: '127.0.0.1',
    });
    const page = { text: async () => 'metric 1\n' };
    const server = await startMetricsServer(environment, pino({ enabled: false }), page);
    const statuses = [{ Host: 'evil.example' }, { Origin: 'http://evil.example' }, {}].map(
      async (headers) => {
        const url = `http://127.0.0.1:${server.port}/metrics`;
        const asked = request(url, { headers }).end();
        const [response] = (await once(asked, 'response')) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      },
    );
    const expected = foreignPages === 'refuse' ? [403, 403, 200] : [200, 200, 200];
    expect(await Promise.all(statuses)).toEqual(expected);
    await server.close(0);
  }
});
