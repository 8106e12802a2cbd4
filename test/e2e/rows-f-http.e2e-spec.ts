import { useStage } from '../support/stage.js';
import { echo, external, input, linear, script, unique } from '../support/workflow.js';

const origin = 'https://console.example.com';
const stage = useStage({ env: { CORS_ORIGINS: origin } });

function preflight(path: string, from: string, method: string): Promise<Response> {
  return fetch(`${stage.parley.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin: from,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type',
    },
  });
}

describe('rows F: the HTTP surface', () => {
  it('F1 create 201, read, list, replace, delete 204, and 404 after', async () => {
    const name = unique('f1');
    const created = await stage.api.call('POST', '/workflows', { ...linear(name, echo('a')), description: 'first' });
    expect(created).toMatchObject({ status: 201, body: { name, description: 'first' } });
    expect((await stage.api.call('GET', `/workflows/${name}`)).body).toMatchObject({
      name,
      nodes: [{ id: 'a', type: 'agent' }],
      edges: [],
    });
    const list = await stage.api.call('GET', '/workflows');
    expect(list.status).toBe(200);
    expect(list.text).toContain(`"${name}"`);
    const replaced = await stage.api.call('PUT', `/workflows/${name}`, linear('another_name', echo('a'), echo('b')));
    expect(replaced).toMatchObject({ status: 200, body: { name, edges: [{ from: 'a', to: 'b' }] } });
    expect((await stage.api.call('GET', '/workflows/another_name')).status).toBe(404);
    expect(await stage.api.call('DELETE', `/workflows/${name}`)).toMatchObject({ status: 204, text: '' });
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
  });

  it.each(['GET', 'DELETE'])('F1 %s of an unknown workflow is 404 `workflow not found`', async (method) => {
    const reply = await stage.api.call(method, '/workflows/nope');
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(reply.text).toContain('workflow not found');
  });

  it('F1 PUT of a workflow that there is not creates it; its revision is the ETag of every answer', async () => {
    const name = unique('f1');
    const body = { ...linear('another_name', echo('a')), $schema: 'https://parley.example/workflow.json' };
    const created = await stage.api.call('PUT', `/workflows/${name}`, body, { 'if-none-match': '*' });
    expect([created.status, created.headers.get('location')]).toEqual([201, `/api/workflows/${name}`]);
    const etag = created.headers.get('etag') ?? '';
    expect(etag).toBe(`"${String(created.body.revision)}"`);
    const shown = await stage.api.call('GET', `/workflows/${name}`);
    expect([shown.headers.get('etag'), shown.body.$schema]).toEqual([etag, body.$schema]);
    const saves = await Promise.all(
      [1, 2, 3].map(() => stage.api.call('PUT', `/workflows/${name}`, body, { 'if-match': etag })),
    );
    expect(saves.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
    const revisions = await stage.api.call('GET', `/workflows/${name}/revisions`);
    expect(revisions.body).toMatchObject({
      revisions: [{ savedAt: expect.any(String) }, { revision: created.body.revision }],
    });
    const first = await stage.api.call('GET', `/workflows/${name}/revisions/${String(created.body.revision)}`);
    expect(first.body).toEqual({ ...created.body, updatedAt: first.body.updatedAt });
  });

  it('F1 a name that is taken is 409', async () => {
    const workflow = await stage.api.save(linear(unique('f1'), echo('a')));
    const reply = await stage.api.call('POST', '/workflows', workflow);
    expect(reply.status).toBe(409);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('F4 /a2a/agent-card is the card of the service, with a skill for every workflow', async () => {
    const workflow = await stage.api.save({ ...linear(unique('f4'), echo('a')), description: 'does things' });
    const response = await fetch(`${stage.parley.url}/a2a/agent-card`);
    const card = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(200);
    expect(card).toMatchObject({
      name: 'parley',
      description: expect.any(String),
      url: `${stage.parley.url}/a2a`,
      defaultInputModes: expect.arrayContaining(['text/plain']),
      defaultOutputModes: expect.arrayContaining(['text/plain']),
    });
    expect(card.skills).toEqual(expect.arrayContaining([expect.objectContaining({ id: workflow.name })]));
  });

  it('F4 the 1.0 card of the service is at the well-known place, for the origin and for /a2a', async () => {
    const workflow = await stage.api.save(linear(unique('f4'), echo('a')));
    for (const base of [stage.parley.url, `${stage.parley.url}/a2a`]) {
      const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;
      expect(card.supportedInterfaces).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            url: `${stage.parley.url}/a2a`,
            protocolBinding: 'JSONRPC',
            protocolVersion: '1.0',
          }),
        ]),
      );
      expect(card.skills).toEqual(
        expect.arrayContaining([expect.objectContaining({ id: workflow.name, tags: expect.any(Array) })]),
      );
    }
  });

  it('F5 F6 B4 /a2a/nodes/{id}/agent-card is the card of the founding document', async () => {
    const [id, other, workflow] = [unique('node'), unique('node'), unique('f6')];
    await stage.api.save({
      name: workflow,
      nodes: [
        echo(id, { description: 'Translates', system_prompt: 'You translate' }),
        script(other, { complete: 'x' }),
      ],
      edges: [],
    });
    const card = await (await fetch(`${stage.parley.url}/a2a/nodes/${id}/agent-card`)).json();
    expect(card).toMatchObject({
      name: id,
      description: 'Translates',
      url: `${stage.parley.url}/a2a/nodes/${id}`,
      capabilities: { streaming: expect.any(Boolean), pushNotifications: expect.any(Boolean) },
      skills: [
        { id, name: `agent: ${id}`, inputModes: ['text/plain'], outputModes: ['text/plain', 'application/json'] },
      ],
      defaultInputModes: expect.arrayContaining(['text/plain']),
      defaultOutputModes: expect.arrayContaining(['text/plain', 'application/json']),
    });
    const plain = (await (await fetch(`${stage.parley.url}/a2a/nodes/${other}/agent-card`)).json()) as {
      description: string;
    };
    expect(plain.description).toBe(`script node ${other} of workflow ${workflow}`);
  });

  it('F6 the card of an unknown node is 404 `node not found`', async () => {
    const response = await fetch(`${stage.parley.url}/a2a/nodes/nope/agent-card`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('node not found');
  });

  it('F7 without PUBLIC_URL the card names the Host it was asked at, and believes no forwarded header', async () => {
    const url = new URL(stage.parley.url);
    const response = await fetch(`http://localhost:${url.port}/.well-known/agent-card.json`, {
      headers: {
        'x-forwarded-host': 'evil.example.com',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example.com;proto=https',
      },
    });
    const text = await response.text();
    expect(text).toContain(`http://localhost:${url.port}/a2a`);
    expect(text).not.toContain('evil.example.com');
  });

  it('F8 there are /api/upload, which stores, /api/files, which lists, and /api/generate, which needs a model', async () => {
    const form = new FormData();
    const name = unique('f8');
    form.append('file', new Blob(['tea']), name);
    const uploaded = await fetch(`${stage.parley.url}/api/upload`, { method: 'POST', body: form });
    expect([uploaded.status, await uploaded.json()]).toEqual([
      201,
      { files: [expect.objectContaining({ id: expect.any(String), name, size: 3 })] },
    ]);
    const listed = await stage.api.call('GET', `/files?q=${name}`);
    expect([listed.status, listed.body]).toMatchObject([200, { files: [{ name, size: 3 }] }]);
    const generated = await stage.api.call('POST', '/generate', { description: 'Translate a text' });
    expect([generated.status, generated.text]).toEqual([422, expect.stringContaining('NO_MODEL')]);
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE'])('F9 a preflight for %s from an allowed origin passes', async (method) => {
    const response = await preflight('/api/workflows/x', origin, method);
    expect(response.status).toBeLessThan(300);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-allow-methods')).toContain(method);
    const headers = response.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */);
    expect(headers).toEqual(expect.arrayContaining(['content-type', 'if-match', 'traceparent', 'tracestate']));
  });

  it('F9 another origin is not allowed, and never `*` together with credentials', async () => {
    for (const path of ['/api/workflows', '/a2a']) {
      const response = await preflight(path, 'https://evil.example.com', 'POST');
      expect([null, origin]).toContain(response.headers.get('access-control-allow-origin'));
    }
    const plain = await fetch(`${stage.parley.url}/api/workflows`, { headers: { origin: 'https://evil.example.com' } });
    expect(plain.headers.get('access-control-allow-origin')).not.toBe('https://evil.example.com');
    expect(plain.headers.get('access-control-allow-origin')).not.toBe('*');
  });

  it('K10 a node id of two workflows is ambiguous at the alias, which lists the candidates; the canonical bases work', async () => {
    const id = unique('twin');
    const [first, second] = [unique('one'), unique('two')];
    await stage.api.save(linear(first, echo(id)));
    await stage.api.save(linear(second, echo(id)));
    const reply = await fetch(`${stage.parley.url}/a2a/nodes/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } },
      }),
    });
    const text = await reply.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32001 } });
    expect(text).toMatch(/ambiguous/i);
    expect(text).toContain(first);
    expect(text).toContain(second);
    for (const name of [first, second]) {
      expect((await fetch(`${stage.api.base(name, id)}/.well-known/agent-card.json`)).status).toBe(200);
    }
    await stage.api.call('DELETE', `/workflows/${second}`);
    expect((await fetch(`${stage.parley.url}/a2a/nodes/${id}/agent-card`)).status).toBe(200);
  });

  it('the directory names every agent: the service, the workflows and their nodes', async () => {
    const name = unique('dir');
    await stage.api.save(linear(name, input('in'), external('x', 'http://127.0.0.1:9')));
    const urls: string[] = [];
    let token = '';
    do {
      const query = new URLSearchParams({ pageSize: '3', ...(token !== '' && { pageToken: token }) });
      const response = await fetch(`${stage.parley.url}/a2a/agents?${query}`);
      const page = (await response.json()) as { agents: unknown[]; nextPageToken: string };
      expect(response.status).toBe(200);
      expect(page.agents.length).toBeLessThanOrEqual(3);
      urls.push(...page.agents.map((agent) => JSON.stringify(agent)));
      token = page.nextPageToken;
    } while (token !== '');
    for (const path of ['', `/workflows/${name}`, `/workflows/${name}/nodes/in`, `/workflows/${name}/nodes/x`]) {
      expect(urls.filter((agent) => agent.includes(`"${stage.parley.url}/a2a${path}"`))).toHaveLength(1);
    }
  });
});
