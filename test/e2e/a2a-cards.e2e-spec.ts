import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
let workflow: Workflow;
let places: string[];

beforeAll(async () => {
  workflow = await stage.api.save({
    ...linear(unique('cards'), input('in'), echo('a'), output('out')),
    description: 'Says it again',
  });
  places = ['/.well-known/agent-card.json', '/a2a/.well-known/agent-card.json', '/a2a/agent-card'];
  for (const path of ['', '/nodes/in', '/nodes/a'])
    places.push(`/a2a/workflows/${workflow.name}${path}/.well-known/agent-card.json`);
});

interface Card {
  name: string;
  description: string;
  version: string;
  supportedInterfaces: { url: string; protocolBinding: string; protocolVersion: string }[];
  capabilities: Record<string, unknown>;
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: { id: string; name: string; description: string; tags: string[] }[];
}

describe('agent cards', () => {
  it('every card is public, cacheable, tagged, and answers If-None-Match with 304', async () => {
    for (const place of places) {
      const response = await fetch(`${stage.parley.url}${place}`);
      const etag = response.headers.get('etag') ?? '';
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json/);
      expect(response.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
      expect(etag).toMatch(/^(W\/)?".+"$/);
      await response.arrayBuffer();
      const again = await fetch(`${stage.parley.url}${place}`, { headers: { 'if-none-match': etag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
      const other = await fetch(`${stage.parley.url}${place}`, { headers: { 'if-none-match': '"something else"' } });
      expect(other.status).toBe(200);
    }
  });

  it('every 1.0 card has the required fields, and each interface it names answers', async () => {
    for (const place of places.filter((it) => it.includes('well-known'))) {
      const card = (await (await fetch(`${stage.parley.url}${place}`)).json()) as Card;
      for (const text of [card.name, card.description, card.version]) expect(text.length).toBeGreaterThan(0);
      for (const list of [card.supportedInterfaces, card.defaultInputModes, card.defaultOutputModes, card.skills])
        expect(list.length).toBeGreaterThan(0);
      expect(card.capabilities).toMatchObject({ streaming: true });
      for (const skill of card.skills)
        expect(skill).toMatchObject({
          id: expect.any(String),
          name: expect.any(String),
          description: expect.any(String),
          tags: expect.any(Array),
        });
      const bindings = card.supportedInterfaces
        .filter(({ protocolVersion }) => protocolVersion === '1.0')
        .map(({ protocolBinding }) => protocolBinding);
      expect(bindings).toEqual(expect.arrayContaining(['JSONRPC', 'HTTP+JSON']));
      for (const it of card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'HTTP+JSON')) {
        const url = `${it.url}${it.protocolVersion === '0.3' ? '/v1' : ''}/tasks`;
        expect((await fetch(url, { headers: { 'a2a-version': it.protocolVersion } })).status).toBe(200);
      }
    }
  });

  it("a workflow's card tells its name and description; its ETag changes with it", async () => {
    const url = `${stage.api.base(workflow.name)}/.well-known/agent-card.json`;
    const first = await fetch(url);
    expect(await first.json()).toMatchObject({
      name: expect.stringContaining(workflow.name),
      description: 'Says it again',
    });
    await stage.api.call('PUT', `/workflows/${workflow.name}`, { ...workflow, description: 'Says something else' });
    const second = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    expect(second.status).toBe(200);
    expect(await second.json()).toMatchObject({ description: 'Says something else' });
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  it('carries nothing of 0.3 for who names 1.0 in the header or the query, and the tag of what it carries', async () => {
    const old = [
      'protocolVersion',
      'url',
      'preferredTransport',
      'additionalInterfaces',
      'supportsAuthenticatedExtendedCard',
    ];
    for (const place of places) {
      const url = `${stage.parley.url}${place}`;
      const get = (headers: Record<string, string>, query = '') => fetch(`${url}${query}`, { headers });
      const whole = await get({});
      const members = async (response: Response) => Object.keys((await response.json()) as object);
      expect(await members(whole)).toEqual(expect.arrayContaining(old));
      for (const named of ['0.3', '0.3.0', 'latest', '2.0']) {
        expect((await get({ 'a2a-version': named })).headers.get('etag')).toBe(whole.headers.get('etag'));
      }
      for (const asked of [await get({ 'a2a-version': '1.0.1' }), await get({}, '?A2A-Version=1.0')]) {
        const etag = asked.headers.get('etag') ?? '';
        expect(etag).not.toBe(whole.headers.get('etag'));
        expect(asked.headers.get('vary')).toMatch(/\bA2A-Version\b/);
        expect((await members(asked)).filter((it) => old.includes(it))).toEqual([]);
        expect((await get({ 'a2a-version': '1.0', 'if-none-match': etag })).status).toBe(304);
        expect((await get({ 'if-none-match': etag })).status).toBe(200);
      }
    }
  });

  it('says when it changed, and is not sent again to whoever has seen it since', async () => {
    const name = unique('dated');
    const saved = await stage.api.save(linear(name, echo('a')));
    for (const place of [`${stage.api.base(name)}`, stage.api.base(name, 'a'), `${stage.parley.url}/a2a`]) {
      const get = (headers: Record<string, string> = {}) => fetch(`${place}/.well-known/agent-card.json`, { headers });
      const dated = async () => (await get()).headers.get('last-modified') ?? undefined;
      const first = await until(dated, { what: 'the second after the save' });
      expect(new Date(first).toUTCString()).toBe(first);
      expect(Date.parse(first)).toBeLessThanOrEqual(Date.now());
      expect((await get({ 'if-modified-since': first })).status).toBe(304);
      const before = new Date(Date.parse(first) - 1000).toUTCString();
      for (const since of [before, 'yesterday']) expect((await get({ 'if-modified-since': since })).status).toBe(200);
      expect((await get({ 'if-modified-since': first, 'if-none-match': '"another"' })).status).toBe(200);
      await stage.api.call('PUT', `/workflows/${name}`, { ...saved, description: `${place} has changed` });
      expect((await get({ 'if-modified-since': first })).status).toBe(200);
      await until(dated, { what: 'the second after the change' });
      expect((await get({ 'if-modified-since': first })).status).toBe(200);
    }
  });

  it('HEAD is answered as GET, without a body', async () => {
    const response = await fetch(`${stage.parley.url}/.well-known/agent-card.json`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBeTruthy();
  });
});
