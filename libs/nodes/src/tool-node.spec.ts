import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { artifactParts, finalText, outline, played, turn } from './testing/turn.js';
import { ToolNode } from './tool-node.js';
import { Calculator, CurrentTime, HttpGet } from './tools/built-in-tools.js';
import { ToolRegistry } from './tools/tool-registry.js';

const { signal } = new AbortController();

describe('tool nodes', () => {
  const now = () => new Date('2026-03-01T12:00:00Z');
  const tools = new ToolRegistry([new Calculator(), new CurrentTime(now), new HttpGet(fetch)]);
  const type = new ToolNode(tools);
  const node = (config: JsonObject) => ({ id: 't', type: 'tool', config });
  const calculator = node({ tool: 'calculator', args: { expression: '{{text}} * 2' } });

  it('runs with its own arguments, the text put in, and tells the steps of its work', async () => {
    const events = await played(type.createExecutor(calculator), turn('20 + 1'));
    expect(outline(events)).toEqual(['working', 'tool.call', 'tool.result', 'artifact', 'completed']);
    expect(artifactParts(events)).toEqual([{ text: '22', mediaType: 'text/plain' }]);
    expect(events[1]).toMatchObject({
      statusUpdate: {
        metadata: { 'parley/event': { payload: { tool: 'calculator', args: { expression: '20 + 1 * 2' } } } },
      },
    });
    expect(events[2]).toMatchObject({
      statusUpdate: { metadata: { 'parley/event': { payload: { tool: 'calculator', result: 22 } } } },
    });
  });

  it.each([[{ args: { expression: '3' } }], [{ expression: '3' }]])(
    'takes %j of a Message where it has none',
    async (data) => {
      const events = await played(type.createExecutor(node({ tool: 'calculator' })), turn([{ data }]));
      expect(artifactParts(events)).toEqual([{ text: '3', mediaType: 'text/plain' }]);
    },
  );

  it.each([[{ args: { expression: '3' } }], [{ expression: '3' }]])('keeps its own against %j', async (data) => {
    const fixed = node({ tool: 'calculator', args: { expression: '20 + 1' } });
    const events = await played(type.createExecutor(fixed), turn([{ text: 'x' }, { data }]));
    expect(artifactParts(events)).toEqual([{ text: '21', mediaType: 'text/plain' }]);
  });

  it.each([
    [{ tool: 'calculator', args: { expression: 'nonsense' } }, 'Error: calculator: unexpected "n"'],
    [{ tool: 'calculator' }, 'Error: tool "calculator": args must have required property \'expression\''],
    [{ tool: 'gone' }, 'Error: unknown tool "gone"'],
  ])('fails %j with one sentence', async (config, words) => {
    const events = await played(type.createExecutor(node(config)), turn('x'));
    expect(outline(events)).toEqual(['working', 'tool.call', 'failed']);
    expect(finalText(events)).toBe(words);
  });

  it('names what is wrong with its config', () => {
    expect(type.findProblems(calculator)).toEqual([]);
    expect(type.findProblems(node({}))).toEqual([
      { path: 'config.tool', detail: 'tool node "t": missing tool config' },
    ]);
    expect(type.findProblems(node({ tool: 'nope', args: [] }))).toEqual([
      { path: 'config.args', detail: 'tool node "t": args must be an object' },
      {
        path: 'config.tool',
        detail: 'tool node "t": unknown tool "nope" (known: calculator, current_time, http_get)',
      },
    ]);
  });

  it('current_time tells UTC, or the time of a zone', async () => {
    expect(await tools.runToolByName('current_time', {}, { signal })).toBe('2026-03-01T12:00:00.000Z');
    expect(await tools.runToolByName('current_time', { timezone: 'Asia/Tokyo' }, { signal })).toBe(
      '2026-03-01 21:00:00 Asia/Tokyo',
    );
    await expect(tools.runToolByName('current_time', { timezone: 'Mars' }, { signal })).rejects.toThrow(
      'unknown time zone "Mars"',
    );
  });

  it('http_get reads JSON and text, bounded in time and size', async () => {
    await using server = createServer((request, response) => {
      if (request.url === '/json') response.setHeader('content-type', 'application/json').end('{"a":1}');
      else if (request.url === '/text') response.end('plain');
      else if (request.url === '/big') response.end('x'.repeat(2 * 1024 * 1024));
      else if (request.url === '/gone') response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get = (path: string) => tools.runToolByName('http_get', { url: url + path }, { signal });
    expect(await get('/json')).toEqual({ a: 1 });
    expect(await get('/text')).toBe('plain');
    await expect(get('/big')).rejects.toThrow('http_get: the answer is longer than 1048576 bytes');
    await expect(get('/gone')).rejects.toThrow(`http_get: HTTP 404 from ${url}/gone`);
    await expect(new HttpGet(fetch, 200).runTool({ url: `${url}/hang` }, { signal })).rejects.toThrow(
      'http_get: timeout',
    );
    await expect(tools.runToolByName('http_get', { url: 'file:///etc/passwd' }, { signal })).rejects.toThrow(
      'url must be an http or https URL',
    );
    server.closeAllConnections();
  });
});

it('http_get gives JSON that could not be written again as a text', async () => {
  const texts = ['{"a":1e999}', `${'['.repeat(20_000)}${']'.repeat(20_000)}`];
  for (const text of texts) {
    const web = new HttpGet(async () => new Response(text, { headers: { 'content-type': 'application/json' } }));
    expect(await web.runTool({ url: 'https://web.example/' }, { signal })).toBe(text);
  }
});

describe('tool nodes of a workflow in language 2', () => {
  const type = new ToolNode(new ToolRegistry([new Calculator()]));
  const of = { workflow: 'w', revision: '1', language: 2 as const };
  const node = (expression: string) => ({
    id: 't',
    type: 'tool',
    config: { tool: 'calculator', args: { expression } },
    of,
  });
  const answer = async (expression: string, data: JsonObject) =>
    artifactParts(await played(type.createExecutor(node(expression)), turn([{ text: '7' }, { data }])));

  it('take what a run has put in for their expressions, and nothing else', async () => {
    expect(await answer('${nodes.a.data.n} + {{b}}', { args: { expression: '1 + 2' } })).toEqual([
      { text: '3', mediaType: 'text/plain' },
    ]);
    expect(await answer('${inputs.n} + 1', { args: { expression: '1 * 2' }, n: 4 })).toEqual([
      { text: '5', mediaType: 'text/plain' },
    ]);
  });

  it('called by themselves evaluate them over the data of the Message', async () => {
    expect(await answer('${inputs.n} + {{text}}', { n: 4 })).toEqual([{ text: '11', mediaType: 'text/plain' }]);
  });
});
