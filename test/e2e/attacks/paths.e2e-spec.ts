import { sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { PlainHttp, type PlainReply, type PlainRequest, sweep } from '../../support/plain-http.js';
import { useStage } from '../../support/stage.js';
import { Api, input, linear, output, script, unique } from '../../support/workflow.js';

/** In everything that is Ann's, and in no address: whoever reads this got in. */
const SECRET = 'anns_own_4711';

const ann = testCaller('ann');
const stage = useStage({ env: apiKeyEnv(ann) });
let api: Api;
let http: PlainHttp;
let families: [method: string, path: string][];
/** What everybody is shown. */
let page: string;

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  http = new PlainHttp(stage.parley.url);
  const name = unique('mine');
  const workflow = linear(name, input('in'), script('q', { ask: SECRET }), output('out'));
  await api.save({ ...workflow, description: SECRET });
  const { id } = await sendTask(api.base(name), SECRET, { headers: ann.headers });
  const kept = [
    await api.call('POST', '/credentials', { name: 'kept', kind: 'bearer', token: 'secret-token' }),
    await api.call('POST', '/credentials', { name: SECRET, kind: 'bearer', token: 'secret-token' }),
    await api.call('POST', '/keys', { name: SECRET, scopes: ['agents'] }),
  ];
  expect(kept.map(({ status }) => status)).toEqual([201, 201, 201]);
  families = familiesOf(name, id);
  page = (await http.send({ method: 'GET', target: '/' })).text;
});

afterAll(() => http?.close());

/** At least one of every kind of route that a stranger has no business with. */
function familiesOf(workflow: string, task: string): [method: string, path: string][] {
  return [
    ['GET', '/api/workflows'],
    ['GET', `/api/workflows/${workflow}`],
    ['PUT', `/api/workflows/${workflow}`],
    ['DELETE', `/api/workflows/${workflow}`],
    ['POST', `/api/workflows/${workflow}/runs`],
    ['GET', '/api/runs'],
    ['GET', `/api/runs/${task}`],
    ['GET', `/api/runs/${task}/events`],
    ['POST', `/api/runs/${task}/cancel`],
    ['GET', '/api/keys'],
    ['POST', '/api/keys'],
    ['GET', '/api/credentials'],
    ['DELETE', '/api/credentials/kept'],
    ['POST', '/api/tickets'],
    ['GET', '/api/events'],
    ['GET', '/api/conversations'],
    ['GET', '/api/brainstorms'],
    ['GET', '/api/deliveries'],
    ['GET', '/api/agent-cards'],
    ['GET', '/a2a/agents'],
    ['POST', '/a2a'],
    ['GET', '/a2a/tasks'],
    ['GET', `/a2a/tasks/${task}`],
    ['POST', `/a2a/workflows/${workflow}/message:send`],
    ['GET', '/a2a/extendedAgentCard'],
    ['GET', '/events'],
  ];
}

/** The path said in another way, or hidden behind one that is open. */
function forms(path: string): string[] {
  const [, first = '', ...others] = path.split('/');
  const rest = others.length > 0 ? `/${others.join('/')}` : '';
  return [
    path,
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/health/live/../..${path}`,
    `/health/live/%2e%2e/%2e%2e${path}`,
    `/.well-known/..${path}`,
    `/.well-known/agent-card.json/../..${path}`,
    `/docs/..%2f..${path}`,
    `/assets/..${path}`,
    `/assets/..%2f..%2f${first}${rest}`,
    `/..;${path}`,
    `/%2e${path}`,
    `/%2e%2e${path}`,
    `${path}/`,
    `${path}//`,
    `/${first}/${rest}`,
    `/${first}/.${rest}`,
    `/${first}%2f${rest.slice(1)}`,
    `/${first}%252f${rest.slice(1)}`,
    `/${first}%5c${rest.slice(1)}`,
    `/${first}\\${rest.slice(1)}`,
    `\\${first}${rest}`,
    `/${first}%c0%af${rest.slice(1)}`,
    `/${first}%e0%80%af${rest.slice(1)}`,
    `/%ef%bc%8f${first}${rest}`,
    `/%${first.charCodeAt(0).toString(16)}${first.slice(1)}${rest}`,
    `/%25${first.charCodeAt(0).toString(16)}${first.slice(1)}${rest}`,
    `/${first.toUpperCase()}${rest}`,
    `${path}%00`,
    `${path}%00.css`,
    `${path}%20`,
    `${path}.`,
    `${path}%2e`,
    `${path}.json`,
    `${path};a=b`,
    `/${first};a=b${rest}`,
    `${path}/.well-known/agent-card.json`,
    `${path}?/.well-known/agent-card.json`,
    `${path}%3f/docs`,
    `${path}#/health/live`,
    `/health/live?${path}`,
    `${path}%0d%0ax-y:%20z`,
    `http://127.0.0.1${path}`,
    `http://evil.example/health/live/../..${path}`,
  ];
}

/** What proxies, frameworks and browsers have been talked into something by; never valid credentials where they belong. */
const HEADERS: [what: string, headers: () => Record<string, string | string[]>][] = [
  ['nothing else', () => ({})],
  [
    'other addresses and methods',
    () => ({
      'x-original-url': '/health/live',
      'x-rewrite-url': '/health/live',
      'x-http-method-override': 'OPTIONS',
      'x-http-method': 'OPTIONS',
      'x-method-override': 'OPTIONS',
    }),
  ],
  [
    'a proxy close by',
    () => ({
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      forwarded: 'for=127.0.0.1;host=localhost',
      'x-forwarded-host': 'localhost',
      'x-forwarded-prefix': '/.well-known',
      'x-forwarded-proto': 'https',
    }),
  ],
  ['credentials of nobody, twice', () => ({ authorization: ['Bearer x', 'Bearer y'], 'x-api-key': ['', 'x'] })],
  ['an empty bearer', () => ({ authorization: 'Bearer ', 'x-api-key': ann.key })],
  [
    'a call of a node',
    () => ({ authorization: `Parley-Node ${btoa('{"t":"","o":"ann","p":["admin"],"e":9e15}')}.AA` }),
  ],
  [
    'a key where none belongs',
    () => ({
      cookie: `authorization=Bearer ${ann.key}; x-api-key=${ann.key}`,
      'proxy-authorization': `Bearer ${ann.key}`,
      'x-authorization': `Bearer ${ann.key}`,
      'api-key': ann.key,
    }),
  ],
  [
    'a browser',
    () => ({ accept: 'text/html', connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }),
  ],
];

/** Else the questions below would show nothing. */
it('whoever has a key gets in, and is seen to', async () => {
  const requests = families.filter(([method]) => method === 'GET').map(([, path]) => request('GET', path, ann.headers));
  const inside = (await passed(requests)) as { target: string }[];
  expect(inside.length).toBeGreaterThanOrEqual(13);
});

describe('without credentials', () => {
  it('no way to say an address leads past the door', async () => {
    const before = await state();
    const requests = families.flatMap(([method, path]) =>
      forms(path).flatMap((target) => HEADERS.map(([, headers]) => request(method, target, headers()))),
    );
    expect(requests).toHaveLength(9_360);
    const inside = await passed(requests);
    expect(inside).toEqual([]);
    expect(await state()).toEqual(before);
  });

  it('no method does', async () => {
    const before = await state();
    const methods = [
      'GET',
      'HEAD',
      'OPTIONS',
      'TRACE',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'PROPFIND',
      'SEARCH',
      'QUERY',
    ];
    const requests = families.flatMap(([, path]) => methods.map((method) => request(method, path, {})));
    expect(await passed(requests)).toEqual([]);
    expect(await state()).toEqual(before);
  });

  it.each(['key', 'api_key', 'apikey', 'access_token', 'token', 'x-api-key', 'authorization'])(
    'a key in the query as %s is none',
    async (name) => {
      const requests = families.map(([method, path]) => request(method, `${path}?${name}=${ann.key}`, {}));
      expect(await passed(requests)).toEqual([]);
    },
  );
});

describe.each([['agents'], ['workflows']])('with the scope %s alone', (scope) => {
  it('no way to say an address leads to what needs another one', async () => {
    const { body } = await api.call<{ key: string }>('POST', '/keys', { name: 'carl', scopes: [scope] });
    const before = await state();
    const beyond = new RegExp(
      scope === 'agents'
        ? '^(GET|POST|DELETE) /api/(keys|credentials)|^(PUT|DELETE) '
        : 'keys|credentials|runs|a2a|events',
    );
    const own = { authorization: `Bearer ${body.key}` };
    const requests = families
      .filter(([method, path]) => beyond.test(`${method} ${path}`))
      .flatMap(([method, path]) =>
        forms(path).flatMap((target) =>
          HEADERS.slice(0, 3).map(([, headers]) => request(method, target, { ...headers(), ...own })),
        ),
      );
    expect(await passed(requests)).toEqual([]);
    expect(await state()).toEqual(before);
  });
});

/** What two servers in a row could read in two ways. The request within would be answered 200. */
describe('one request that could be two', () => {
  const within = (): string => `GET /api/runs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ann.key}\r\n\r\n`;
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

  it.each<[string, string[], (inner: string) => string]>([
    ['a length and chunks', ['content-length: 5', 'transfer-encoding: chunked'], (inner) => `0\r\n\r\n${inner}`],
    ['chunks and a length', ['transfer-encoding: chunked', 'content-length: 0'], chunk],
    ['two lengths', ['content-length: 0', 'content-length: 80'], (inner) => inner],
    ['lengths in a list', ['content-length: 0, 80'], (inner) => inner],
    ['a length with a sign', ['content-length: +0'], (inner) => inner],
    ['a length below nothing', ['content-length: -1'], (inner) => inner],
    ['a length in hexadecimal', ['content-length: 0x0'], (inner) => inner],
    ['a blank before the colon', ['content-length : 0', 'transfer-encoding: chunked'], (inner) => `0\r\n\r\n${inner}`],
    ['a coding of that kind', ['transfer-encoding: xchunked'], (inner) => `0\r\n\r\n${inner}`],
    ['chunks that are not last', ['transfer-encoding: chunked, identity'], (inner) => `0\r\n\r\n${inner}`],
    ['chunks twice', ['transfer-encoding: chunked', 'transfer-encoding: identity'], (inner) => `0\r\n\r\n${inner}`],
    ['a tab for a coding', ['transfer-encoding:\u000bchunked'], (inner) => `0\r\n\r\n${inner}`],
    ['a folded line', ['x: y\r\n transfer-encoding: chunked', 'content-length: 0'], (inner) => `\r\n${inner}`],
    ['a bare line feed', ['x: y\ncontent-length: 0'], (inner) => inner],
    ['a bare carriage return', ['x: y\rcontent-length: 0'], (inner) => inner],
    ['a chunk that says 0x', ['transfer-encoding: chunked'], (inner) => `0x0\r\n\r\n${inner}`],
    ['a chunk with a sign', ['transfer-encoding: chunked'], (inner) => `-0\r\n\r\n${inner}`],
    ['a chunk too long for a number', ['transfer-encoding: chunked'], (inner) => `ffffffffffffffff1\r\n${inner}`],
    ['a name that is none', ['content length: 0', 'transfer-encoding: chunked'], (inner) => `0\r\n\r\n${inner}`],
  ])('%s: is refused, and nothing behind it is read', async (_what, lines, body) => {
    const head = ['POST /a2a HTTP/1.1', 'host: x', 'content-type: application/json', ...lines].join('\r\n');
    const text = await http.exchange(`${head}\r\n\r\n${body(within())}`);
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    expect(statuses.filter((status) => status < 400)).toEqual([]);
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(text).not.toContain('"runs"');
  });

  it('is two where it says so: what is refused above is refused for its form', async () => {
    const first = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
    expect(await http.exchange(`${first}${within()}`)).toContain('"runs"');
  });
});

function request(method: string, target: string, headers: Record<string, string | string[]>): PlainRequest {
  const body = /^(POST|PUT|PATCH)$/.test(method) ? '{}' : undefined;
  return { method, target, headers: { ...(body && { 'content-type': 'application/json' }), ...headers }, body };
}

/** The requests that got somewhere, with what they were told. */
async function passed(requests: PlainRequest[]): Promise<unknown[]> {
  const replies = await sweep(requests, (it) => http.send(it));
  return requests.flatMap(({ method, target, headers }, index) => {
    const reply = replies[index] as PlainReply;
    return isOutside(reply, method, target) ? [] : [{ method, target, headers, ...told(reply) }];
  });
}

const told = ({ status, text }: PlainReply) => ({ status, text: text.slice(0, 200) });

/** Refused, or told what everybody is told: pages, health, the service's card; never what is Ann's. */
function isOutside({ status, headers, text }: PlainReply, method: string, target: string): boolean {
  if (status >= 500 || text.includes(SECRET)) return false;
  if (status === 0 || status >= 400 || (status >= 300 && text === '')) return true;
  const options = method === 'OPTIONS' && text === '';
  const type = String(headers['content-type'] ?? '');
  const open = /^\/(health\/live|\.well-known\/|docs)/.test(target) || text === page || type.startsWith('text/html');
  return options || (method === 'HEAD' && text === '') || open;
}

/** How many there are of what a stranger could make or take away. */
async function state(): Promise<Record<string, number>> {
  const tables = ['task', 'task_event', 'workflow', 'api_key', 'credential'];
  const counts = await Promise.all(
    tables.map(async (name) => [name, (await stage.database.query(`SELECT FROM ${name}`)).length] as const),
  );
  return Object.fromEntries(counts);
}
