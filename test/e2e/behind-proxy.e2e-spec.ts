import { SendMessageRequest, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { networkInterfaces } from 'node:os';
import type { JWK } from 'jose';
import { message } from '../support/a2a.js';
import { onLinux } from '../support/on-linux.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import {
  PROXY_ADDRESS,
  type ReverseProxy,
  type ReverseProxyOptions,
  startReverseProxy,
} from '../support/reverse-proxy.js';
import { useStage } from '../support/stage.js';
import { echo, input, linear, output, unique } from '../support/workflow.js';

const stage = useStage({ env: { TRUSTED_PROXIES: PROXY_ADDRESS } });
const workflow = unique('proxied');
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((it) => it?.address === '::1');
const overIpv6 = hasIpv6 ? onLinux : it['skip'];
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  await stage.api.save(linear(workflow, input('in'), echo('again'), output('out')));
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function proxyTo(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const proxy = await startReverseProxy(options);
  ends.push(() => proxy.stop());
  return proxy;
}

async function service(env: Record<string, string>): Promise<Parley> {
  const parley = await startParley({ databaseUrl: stage.database.url, env });
  ends.push(() => parley.stop());
  return parley;
}

/** Follows the card at a base URL as a client does, and talks to the agent that it names. */
async function talk(base: string, path = ''): Promise<{ url: string; said: string }> {
  const cardUrl = `${base}${path}/.well-known/agent-card.json`;
  const client = await new ClientFactory().createFromUrl(cardUrl, '');
  const card = await new DefaultAgentCardResolver().resolve(cardUrl, '');
  const request = SendMessageRequest.fromJSON({ message: { ...message('hello'), metadata: { skillId: workflow } } });
  let said = '';
  for await (const event of client.sendMessageStream(request)) {
    const artifact = event.payload?.$case === 'artifactUpdate' ? event.payload.value.artifact : undefined;
    const content = artifact?.parts[0]?.content;
    if (content?.$case === 'text') said += content.value;
  }
  return { url: card.supportedInterfaces[0]?.url ?? '', said };
}

describe('behind a reverse proxy that takes a prefix off', () => {
  onLinux("the SDK's client follows every card through the proxy", async () => {
    const proxy = await proxyTo({ target: stage.parley.url, prefix: '/team/parley' });
    expect(await talk(proxy.url)).toEqual({ url: `${proxy.url}/a2a`, said: 'hello' });
    const path = `/a2a/workflows/${workflow}`;
    expect(await talk(proxy.url, path)).toEqual({ url: `${proxy.url}${path}`, said: 'hello' });
    expect(await talk(proxy.url, `${path}/nodes/again`)).toEqual({
      url: `${proxy.url}${path}/nodes/again`,
      said: 'hello',
    });
  });

  onLinux('the prefixes of two proxies follow one another, whether they add to the headers or set them', async () => {
    const inner = await proxyTo({ target: stage.parley.url, prefix: '/inner' });
    const outer = await proxyTo({ target: inner.url, prefix: '/outer' });
    // Its target is the inner proxy below its prefix: what it takes off is all that there is to see.
    const { supportedInterfaces } = await cardAt(outer.url);
    expect(supportedInterfaces[0]?.url).toBe(`${new URL(outer.url).origin}/outer/inner/a2a`);
    const plain = await proxyTo({ target: stage.parley.url, prefix: '/alone', replaces: true });
    expect(await talk(plain.url)).toEqual({ url: `${plain.url}/a2a`, said: 'hello' });
  });

  overIpv6('over IPv6', async () => {
    const proxy = await proxyTo({ target: stage.parley.url, prefix: '/six', host: '::1' });
    expect(await talk(proxy.url)).toEqual({ url: `${proxy.url}/a2a`, said: 'hello' });
  });

  onLinux('what the client itself writes into the headers changes nothing', async () => {
    const proxy = await proxyTo({ target: stage.parley.url, prefix: '/team' });
    const { supportedInterfaces } = await cardAt(proxy.url, {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/evil',
    });
    expect(supportedInterfaces.map(({ url }) => url)).toEqual(supportedInterfaces.map(() => `${proxy.url}/a2a`));
  });

  onLinux('a proxy that is not trusted is not believed', async () => {
    const alone = await service({});
    const proxy = await proxyTo({ target: alone.url, prefix: '/team' });
    const { supportedInterfaces } = await cardAt(proxy.url);
    expect(supportedInterfaces[0]?.url).toBe(`${alone.url}/a2a`);
  });

  onLinux('caches are told what a card depends on', async () => {
    const url = '/a2a/.well-known/agent-card.json';
    expect((await fetch(`${stage.parley.url}${url}`)).headers.get('vary')).toMatch(/X-Forwarded-Host/);
    const alone = await service({ CORS_ORIGINS: 'https://app.example.com' });
    expect((await fetch(`${alone.url}${url}`)).headers.get('vary')).toBe('Origin, A2A-Version');
  });
});

describe('PUBLIC_URL with a path', () => {
  onLinux('is what a client needs, and cards are signed for it', async () => {
    const port = await freePort();
    const proxy = await proxyTo({ target: `http://127.0.0.1:${port}`, prefix: '/agents' });
    await service({ PORT: String(port), PUBLIC_URL: `${proxy.url}/` });
    expect(await talk(proxy.url)).toEqual({ url: `${proxy.url}/a2a`, said: 'hello' });
    const asked: unknown[] = [];
    await verifyAgentCardSignature(async (kid, jku) => {
      asked.push(jku);
      const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
      return keys.find((it) => it.kid === kid) as JWK;
    })((await cardAt(proxy.url)) as never);
    expect(asked).toEqual([`${proxy.url}/.well-known/jwks.json`]);
  });
});

async function cardAt(
  base: string,
  headers: Record<string, string> = {},
): Promise<{ supportedInterfaces: { url: string }[] }> {
  return (await (await fetch(`${base}/.well-known/agent-card.json`, { headers })).json()) as never;
}
