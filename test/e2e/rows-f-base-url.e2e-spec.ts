import { type Parley, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { Api, echo, linear, unique } from '../support/workflow.js';

const stage = useStage({ env: { PUBLIC_URL: 'https://agents.example.com/parley' } });
let proxied: Parley;

beforeAll(async () => {
  proxied = await startParley({ databaseUrl: stage.database.url, env: { TRUSTED_PROXIES: '127.0.0.1/32,::1' } });
});

afterAll(() => proxied?.stop());

function cardAt(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ supportedInterfaces: { url: string }[] }> {
  return fetch(url, { headers }).then((response) => response.json()) as Promise<{
    supportedInterfaces: { url: string }[];
  }>;
}

describe('row F7: the URL that cards advertise', () => {
  it('F7 PUBLIC_URL wins over the request', async () => {
    const name = unique('f7');
    await stage.api.save(linear(name, echo('a')));
    for (const path of ['/a2a', `/a2a/workflows/${name}`, `/a2a/workflows/${name}/nodes/a`]) {
      const card = await cardAt(`${stage.parley.url}${path}/.well-known/agent-card.json`, {
        'x-forwarded-host': 'evil.example.com',
      });
      expect(card.supportedInterfaces.map(({ url }) => url)).toEqual(
        card.supportedInterfaces.map(() => `https://agents.example.com/parley${path}`),
      );
      expect(card.supportedInterfaces.length).toBeGreaterThan(0);
    }
  });

  it("F7 a trusted proxy's X-Forwarded-Proto, -Host and -Prefix count", async () => {
    const card = await cardAt(`${proxied.url}/a2a/.well-known/agent-card.json`, {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'front.example.com',
      'x-forwarded-prefix': '/team',
    });
    expect(card.supportedInterfaces[0]?.url).toBe('https://front.example.com/team/a2a');
  });

  it.each([
    ['a host with a path', { 'x-forwarded-host': 'front.example.com/evil' }],
    ['a script as the scheme', { 'x-forwarded-proto': 'javascript' }],
    ['a prefix that is another host', { 'x-forwarded-prefix': '//evil.example.com' }],
  ])("F7 %s in a trusted proxy's headers is not taken over", async (_what, headers) => {
    const response = await fetch(`${proxied.url}/a2a/.well-known/agent-card.json`, {
      headers: headers as Record<string, string>,
    });
    expect(response.status).toBeLessThan(500);
    const text = await response.text();
    expect(text).not.toMatch(/javascript:|front\.example\.com\/evil|\/\/evil/);
  });

  it('F7 a workflow runs although its advertised URL is not reachable from here', async () => {
    const run = await stage.api.finish(linear(unique('f7'), echo('a'), echo('b')));
    expect(run.status).toBe('completed');
    expect(await new Api(proxied.url).run(run.runId)).toMatchObject({ status: 'completed' });
  });
});
