import { useSharedStage } from '../support/shared-stage.js';
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
      expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/);
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

  it('HEAD is answered as GET, without a body', async () => {
    const response = await fetch(`${stage.parley.url}/.well-known/agent-card.json`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBeTruthy();
  });
});
