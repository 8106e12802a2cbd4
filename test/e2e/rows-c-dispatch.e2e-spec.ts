import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { Api, diamond, echo, input, output, type Run, script, says, unique } from '../support/workflow.js';

/** What the outside sees of a run, without ids and times. */
function essence({ status, state, result, nodes }: Run): unknown {
  return {
    status,
    state,
    result: result?.map(({ name, parts }) => ({ name, parts })),
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([id, it]) => [id, { status: it.status, attempts: it.attempts }]),
    ),
  };
}

describe('row C15: nodes called in the process or over the wire', () => {
  let database: TestDatabase;
  let local: Parley;
  let wired: Parley;
  let relay: Server;
  const relayed: string[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
    const port = await freePort();
    relay = createServer((request, response) => {
      relayed.push(`${request.method} ${request.url}`);
      const options = { host: '127.0.0.1', port, path: request.url, method: request.method, headers: request.headers };
      const onward = forward(options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const INTERNAL_URL = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    wired = await startParley({
      databaseUrl: database.url,
      env: { PORT: String(port), NODE_DISPATCH: 'http', INTERNAL_URL },
    });
    local = await startParley({ databaseUrl: database.url, env: { NODE_DISPATCH: 'local', INTERNAL_URL } });
  });

  afterAll(async () => {
    await local?.stop();
    await wired?.stop();
    relay?.closeAllConnections();
    relay?.close();
    await database?.drop();
  });

  it('C15 C1 the same run has the same results either way; only `http` goes over the wire, one send per node', async () => {
    const workflow = diamond(
      unique('c15'),
      input('in'),
      [echo('a', { prompt: 'A {{in}}' }), script('b', ...says('B'))],
      output('out'),
    );
    await new Api(local.url).save(workflow);
    const here = await new Api(local.url).ended(await new Api(local.url).start(workflow.name, { in: 'x' }));
    expect(relayed).toEqual([]);
    const there = await new Api(wired.url).ended(await new Api(wired.url).start(workflow.name, { in: 'x' }));
    expect(essence(there)).toEqual(essence(here));
    expect(here.status).toBe('completed');
    const posts = relayed.filter((it) => it.startsWith('POST'));
    for (const id of ['in', 'a', 'b', 'out']) {
      expect(posts.filter((it) => it.includes(`/a2a/workflows/${workflow.name}/nodes/${id}`))).toHaveLength(1);
    }
  });
});
