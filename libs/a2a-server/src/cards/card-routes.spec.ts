import { type FakeServer, fakeServer } from '../testing/fake-server.js';
import { CALL_CHAIN } from '#libs/agents';
import { IDEMPOTENCY, RESUMABLE_STREAMS } from '../extensions.js';

let server: FakeServer;

beforeAll(() => {
  server = fakeServer();
});

afterAll(() => server.app.close());

describe('agent cards', () => {
  it.each([
    ['/.well-known/agent-card.json', '/a2a'],
    ['/a2a/.well-known/agent-card.json', '/a2a'],
    ['/a2a/agent-card', '/a2a'],
    ['/a2a/workflows/echo/.well-known/agent-card.json', '/a2a/workflows/echo'],
    ['/a2a/workflows/flow/nodes/copy/.well-known/agent-card.json', '/a2a/workflows/flow/nodes/copy'],
    ['/a2a/nodes/copy/.well-known/agent-card.json', '/a2a/nodes/copy'],
    ['/a2a/nodes/copy/agent-card', '/a2a/nodes/copy'],
  ])('GET %s tells the agent at %s', async (path, agent) => {
    const response = await server.app.inject(path);
    const url = `http://parley.test${agent}`;
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toMatchObject({
      url,
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extensions: [{ uri: RESUMABLE_STREAMS }, { uri: IDEMPOTENCY }, { uri: CALL_CHAIN }],
      },
      skills: [{ inputModes: ['text/plain', 'application/json'], tags: ['agent'] }],
    });
  });

  it('are not sent again while they have not changed', async () => {
    const path = '/a2a/workflows/echo/.well-known/agent-card.json';
    const first = await server.app.inject(path);
    const etag = String(first.headers.etag);
    expect(first.headers['cache-control']).toContain('max-age=');
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await server.app.inject({ url: path, headers: { 'if-none-match': header } });
      expect([again.statusCode, again.payload, again.headers.etag]).toEqual([304, '', etag]);
    }
    const changed = await server.app.inject({ url: path, headers: { 'if-none-match': '"other"' } });
    expect(changed.statusCode).toBe(200);
  });

  it('of unknown agents are 404', async () => {
    const node = await server.app.inject('/a2a/nodes/nope/agent-card');
    expect([node.statusCode, node.json().error.message]).toEqual([404, 'node not found']);
    const strange = await server.app.inject('/a2a/nodes/strange/agent-card');
    expect([strange.statusCode, strange.json().error.message]).toEqual([404, 'no executor for node type "strange"']);
    const workflow = await server.app.inject('/a2a/workflows/nope/.well-known/agent-card.json');
    expect(workflow.statusCode).toBe(404);
  });
});

describe('the directory', () => {
  it('is paged', async () => {
    const paths: string[] = [];
    let pageToken = '';
    do {
      const page = (await server.app.inject(`/a2a/agents?pageSize=3&pageToken=${pageToken}`)).json();
      paths.push(...page.agents.map((it: { path: string }) => it.path));
      pageToken = page.nextPageToken;
    } while (pageToken);
    expect(paths).toHaveLength(8);
    const { agents } = (await server.app.inject('/a2a/agents')).json();
    expect(agents[1]).toEqual({
      path: 'workflows/echo',
      name: 'echo',
      description: 'The agent echo',
      url: 'http://parley.test/a2a/workflows/echo',
      cardUrl: 'http://parley.test/a2a/workflows/echo/.well-known/agent-card.json',
    });
  });

  it('refuses a page size that is none', async () => {
    expect((await server.app.inject('/a2a/agents?pageSize=0')).statusCode).toBe(400);
  });
});
