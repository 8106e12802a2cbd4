import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { JsonObject, Task } from '#libs/protocol';
import { sendTask } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { useStage } from '../support/stage.js';
import { contentsIn, placesIn, type StoredContents } from '../support/stored-contents.js';
import { until } from '../support/until.js';
import { digest, endUpkeep, formOf, openUpload, type SentFile, startUpkeep } from '../support/uploads.js';
import { Api, type ApiReply, external, input, linear, output, script, unique } from '../support/workflow.js';

const MEGABYTE = 1024 ** 2;
const FORM = 'multipart/form-data; boundary=b';
const TITLED = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n';
const FILES = Array.from({ length: 21 }, (_, index): [string, Buffer] => [`${index}`, randomBytes(3)]);
const [ann, eve, max] = [testCaller('ann'), testCaller('eve'), testCaller('max')];
const dataDir = mkdtempSync(join(tmpdir(), 'parley-files-'));
const LIMITS = { FILE_LIMIT: '6mb', FILES_QUOTA: '12mb', FILE_RETENTION: '30d' };
const RETENTION_MS = 30 * 24 * 3_600_000;
const stage = useStage({ dataDir, env: { ...apiKeyEnv(ann, eve, max), ...LIMITS } });
let api: Api;
let others: Api;

beforeAll(() => {
  api = new Api(stage.parley.url, ann.headers);
  others = new Api(stage.parley.url, eve.headers);
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function upload(
  body: string | Buffer | FormData,
  headers: Record<string, string> = {},
  caller = ann,
): Promise<{ status: number; files: SentFile[]; text: string; headers: Headers }> {
  const sent = { ...caller.headers, ...headers };
  const reply = await fetch(`${stage.parley.url}/api/upload`, {
    method: 'POST',
    headers: sent,
    body: body as RequestInit['body'],
  });
  const text = await reply.text();
  const { files = [] } = JSON.parse(text) as { files?: SentFile[] };
  return { status: reply.status, files, text, headers: reply.headers };
}

async function keep(content: Buffer, name = unique('f')): Promise<SentFile> {
  const { status, files, text } = await upload(formOf([name, content]));
  if (status !== 201) throw new Error(`The upload failed: ${status} ${text}`);
  return files[0]!;
}

const read = (path: string, headers: Record<string, string> = ann.headers, method = 'GET'): Promise<Response> =>
  fetch(`${stage.parley.url}${path}`, { headers, method });

const storedContents = (): StoredContents => contentsIn(dataDir);
const leftovers = async (): Promise<number> =>
  (await stage.database.query<{ count: number }>('SELECT count(*)::int AS count FROM file_leftover'))[0]!.count;

describe('/api/upload and /api/files', () => {
  it('keeps the files of a form, lists them newest first, by name too, and page by page', async () => {
    const name = unique('report');
    const [first, second] = [randomBytes(10), randomBytes(200_000)];
    const sent = await upload(formOf([`${name}-1.txt`, first, 'text/plain'], [`${name}-2 ü.bin`, second]));
    expect(sent.status).toBe(201);
    expect(sent.files).toMatchObject([
      { name: `${name}-1.txt`, mediaType: 'text/plain', size: 10, sha256: digest(first) },
      { name: `${name}-2 ü.bin`, mediaType: 'application/octet-stream', size: 200_000, sha256: digest(second) },
    ]);
    for (const { createdAt, expiresAt = '' } of sent.files)
      expect(Math.abs(Date.parse(expiresAt) - Date.parse(createdAt) - RETENTION_MS)).toBeLessThan(60_000);
    const later = await keep(randomBytes(5), `${name}-3`);
    type List = { files: SentFile[]; nextPageToken: string };
    const search = `/files?q=${name.toUpperCase()}`;
    const all = await api.call<List>('GET', search);
    expect(all.body.files.map(({ id }) => id)[0]).toBe(later.id);
    expect(new Set(all.body.files.map(({ id }) => id))).toEqual(new Set([later, ...sent.files].map(({ id }) => id)));
    const pages: string[] = [];
    for (let token: string | undefined; token !== '';) {
      const page: ApiReply<List> = await api.call<List>('GET', `${search}&pageSize=1&pageToken=${token ?? ''}`);
      pages.push(...page.body.files.map(({ id }) => id));
      token = page.body.nextPageToken;
    }
    expect(pages).toEqual(all.body.files.map(({ id }) => id));
  });

  it.each([
    ['a picture', 'image/png', randomBytes(1_000)],
    ['JSON, as it was sent', 'application/json', Buffer.from('{ "a":1 , "__proto__": {} }')],
    ['more than BODY_LIMIT', 'video/mp4', randomBytes(5 * MEGABYTE)],
    ['bytes without a type', '', randomBytes(10)],
  ])('takes one body for a file: %s', async (_what, type, content) => {
    const headers = { 'content-disposition': `attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe`, 'content-type': type };
    const { status, files } = await upload(content, type === '' ? {} : headers);
    expect(status).toBe(201);
    const { id, sha256, mediaType, name } = files[0]!;
    expect([mediaType, name]).toEqual(type === '' ? ['application/octet-stream', 'file'] : [type, 'grüße']);
    expect(sha256).toBe(digest(content));
    const reply = await read(`/api/files/${id}`);
    expect(Buffer.from(await reply.arrayBuffer()).equals(content)).toBe(true);
    expect((await api.call('DELETE', `/files/${id}`)).status).toBe(204);
  });

  it('takes uploads under the name of what they make, too', async () => {
    const reply = await fetch(`${stage.parley.url}/api/files`, { method: 'POST', headers: ann.headers, body: 'x' });
    const { files } = (await reply.json()) as { files: SentFile[] };
    expect([reply.status, files[0]?.size]).toEqual([201, 1]);
  });

  it.each([
    ['text/html; charset=utf-8', 'text/html; charset=utf-8'],
    ['image/svg+xml', 'image/svg+xml'],
    ['text/javascript; charset=utf-8', 'text/plain; charset=utf-8'],
    ['text/css', 'text/plain'],
  ])('has a browser save a file of the type %s, and never show or run it', async (type, shown) => {
    const { files } = await upload('<script>alert(1)</script>', { 'content-type': type });
    const { id, mediaType } = files[0]!;
    const made = await api.call<{ url: string }>('POST', `/files/${id}/urls`);
    for (const reply of [await read(`/api/files/${id}`), await fetch(made.body.url)]) {
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': shown,
        'content-disposition': expect.stringMatching(/^attachment;/),
        'content-security-policy': expect.stringMatching(/^sandbox;/),
        'x-content-type-options': 'nosniff',
      });
      await reply.arrayBuffer();
    }
    expect(mediaType).toBe(type);
  });

  it('answers with the content, its head alone, a range of it, or that the client has it', async () => {
    const content = Buffer.from('0123456789');
    const { id, sha256 } = await keep(content, 'ten "x".txt');
    const path = `/api/files/${id}`;
    const whole = await read(path);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-length': '10',
      etag: `"${sha256}"`,
      'accept-ranges': 'bytes',
      'content-disposition': expect.stringMatching(/^attachment; filename="ten _x_.txt"/),
      'x-content-type-options': 'nosniff',
    });
    expect(await whole.text()).toBe('0123456789');
    const head = await read(path, ann.headers, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
    const headOfPart = await read(path, { ...ann.headers, range: 'bytes=2-4' }, 'HEAD');
    expect([headOfPart.status, headOfPart.headers.get('content-length')]).toEqual([200, '10']);
    const part = await read(path, { ...ann.headers, range: 'bytes=2-4' });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234']);
    const beyond = await read(path, { ...ann.headers, range: 'bytes=10-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const known = await read(path, { ...ann.headers, 'if-none-match': `"${sha256}"` });
    expect([known.status, await known.text()]).toEqual([304, '']);
    const changed = await read(path, { ...ann.headers, range: 'bytes=2-4', 'if-range': '"other"' });
    expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
  });

  it('keeps files from everybody but their owner', async () => {
    const { id, name } = await keep(randomBytes(10));
    const foreign = await Promise.all([
      others.call('GET', `/files/${id}`),
      others.call('DELETE', `/files/${id}`),
      others.call('POST', `/files/${id}/urls`, {}),
      others.call('GET', '/files/unknown'),
    ]);
    expect(foreign.map(({ status, body }) => [status, body['detail']])).toEqual(
      foreign.map(() => [404, 'file not found']),
    );
    expect((await others.call<JsonObject>('GET', `/files?q=${name}`)).body).toEqual({ files: [], nextPageToken: '' });
    expect((await read(`/api/files/${id}`, eve.headers, 'HEAD')).status).toBe(404);
    expect((await read(`/api/files/${id}`, {})).status).toBe(401);
    expect((await read(`/api/files/${id}`)).status).toBe(200);
  });

  it('stores a content of an owner once, until its last file goes, and that of another owner beside it', async () => {
    const content = randomBytes(1_000);
    const before = storedContents();
    const [one, other] = [await keep(content), await keep(content)];
    const foreign = await upload(formOf(['x', content]), {}, eve);
    expect(storedContents().contents).toBe(before.contents + 2);
    await api.call('DELETE', `/files/${one.id}`);
    expect((await read(`/api/files/${other.id}`)).status).toBe(200);
    await api.call('DELETE', `/files/${other.id}`);
    expect(storedContents().contents).toBe(before.contents + 1);
    expect((await read(`/api/files/${foreign.files[0]!.id}`, eve.headers)).status).toBe(200);
    expect((await api.call('DELETE', `/files/${other.id}`)).status).toBe(404);
    expect(await leftovers()).toBe(0);
  });

  it('opens a file by a signed address without a key, and by no other address', async () => {
    const [file, another] = [await keep(Buffer.from('signed')), await keep(Buffer.from('another'))];
    const made = await api.call<{ url: string; expiresAt: string }>('POST', `/files/${file.id}/urls`, {
      expiresIn: '2h',
    });
    expect(made.status).toBe(201);
    expect(Date.parse(made.body.expiresAt)).toBeGreaterThan(Date.now() + 7_000_000);
    const brief = await api.call<{ url: string }>('POST', `/files/${file.id}/urls`, { expiresIn: '1s' });
    const { url } = made.body;
    const reply = await fetch(url);
    expect([reply.status, await reply.text()]).toEqual([200, 'signed']);
    expect((await fetch(url, { headers: { range: 'bytes=0-1' } })).status).toBe(206);
    const altered = [
      url.replace(file.id, another.id),
      url.replace(/expires=\d/, 'expires=9'),
      url.replace(/signature=.*/, (it) => `${it.slice(0, -2)}${it.endsWith('A') ? 'E' : 'A'}`),
      url.slice(0, -1),
      `${url}x`,
    ];
    for (const it of altered) expect((await fetch(it)).status).toBe(403);
    expect((await fetch(url.replace(/&signature=.*/, ''))).status).toBe(400);
    await until(async () => (await fetch(brief.body.url)).status === 403, { what: 'the brief address to expire' });
    expect((await fetch(url)).status).toBe(200);
    await api.call('DELETE', `/files/${file.id}`);
    expect((await fetch(url)).status).toBe(403);
    const metrics = await (await fetch(`${stage.parley.url}/metrics`)).text();
    for (const word of ['signature=', file.id]) expect(metrics).not.toContain(word);
    expect(stage.parley.logs()).not.toContain('signature=');
  });

  it('sends an agent elsewhere an address that opens the file of the caller, and of nobody else', async () => {
    const agent = await stage.fake();
    const { url } = await keep(Buffer.from('for the agent'));
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ url, mediaType: 'text/plain' }] };
    for (const caller of [api, others]) await caller.call('POST', '/agent-messages', { url: agent.url, message });
    const [opened = '', closed] = agent.sends.map(({ message: sent }) => sent?.parts[0]?.url);
    const reply = await fetch(opened);
    expect([reply.status, await reply.text()]).toEqual([200, 'for the agent']);
    expect(closed).toBe(url);
  });

  it('sends the picture of a run on from its input node to an agent elsewhere, by an address that opens', async () => {
    const agent = await stage.fake({ card: { defaultInputModes: ['text/plain', 'image/*'] } });
    const { url } = await keep(Buffer.from('for the run'));
    const { name } = await api.save(linear(unique('file-run'), input('in'), external('far', agent.url)));
    const parts = [{ text: 'look at this' }, { url, mediaType: 'image/png' }];
    await sendTask(api.base(name), parts, { headers: ann.headers });
    const opened = agent.sends[0]?.message?.parts.find((part) => part.url !== undefined)?.url ?? '';
    const reply = await fetch(opened);
    expect([reply.status, await reply.text()]).toEqual([200, 'for the run']);
  });

  it.each<[string, () => Promise<{ status: number; text: string }>, number, RegExp]>([
    ['an empty body', () => upload(''), 400, /the content of a file/],
    ['a form of 21 files', () => upload(formOf(...FILES)), 400, /at most 20 files/],
    ['a form without files', () => upload(new FormData()), 400, /1 to 20 parts|cut off/],
    ['a form with another field', () => upload(TITLED, { 'content-type': FORM }), 400, /title/],
    ['a file beyond FILE_LIMIT', () => upload(formOf(['x', Buffer.alloc(6 * MEGABYTE + 1)])), 413, /at most 6 MiB/],
    ['a body beyond FILE_LIMIT', () => upload(Buffer.alloc(6 * MEGABYTE + 1)), 413, /at most 6 MiB/],
    ['a compressed body', () => upload('x', { 'content-encoding': 'gzip' }), 415, /compressed/],
  ])('refuses %s, and keeps nothing of it', async (_what, send, status, detail) => {
    const before = storedContents();
    const reply = await send();
    expect([reply.status, reply.text]).toEqual([status, expect.stringMatching(detail)]);
    expect(storedContents()).toEqual({ ...before, incoming: 0 });
    expect(await leftovers()).toBe(0);
  });

  it('refuses what is above FILES_QUOTA, as a whole, and takes it once there is room', async () => {
    const send = (...sizes: number[]) =>
      upload(formOf(...sizes.map((size, index): [string, Buffer] => [`${index}`, randomBytes(size)])), {}, max);
    const kept = await send(5 * MEGABYTE, 5 * MEGABYTE);
    expect(kept.status).toBe(201);
    const before = storedContents();
    const refused = await send(MEGABYTE, 2 * MEGABYTE);
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining('QUOTA_EXCEEDED')]);
    expect(storedContents()).toEqual(before);
    await fetch(`${stage.parley.url}/api/files/${kept.files[0]!.id}`, { method: 'DELETE', headers: max.headers });
    expect((await send(MEGABYTE, 2 * MEGABYTE)).status).toBe(201);
  });

  it('refuses a fifth upload of a caller at a time with 429, and none of another caller', async () => {
    const sockets: Socket[] = [];
    while (sockets.length < 4) sockets.push(await beginUpload(1_000_000, sockets.length + 1));
    const refused = await upload('x');
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect((await upload('x', {}, eve)).status).toBe(201);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await leftovers()) === 0, { what: 'the uploads to be given up' });
    expect((await upload('x')).status).toBe(201);
  });

  it('leaves nothing of an upload whose client leaves in the middle', async () => {
    const before = storedContents();
    const socket = await beginUpload(1_000_000);
    expect(await leftovers()).toBe(1);
    socket.destroy();
    await until(async () => (await leftovers()) === 0, { what: 'the upload to be given up' });
    expect(storedContents()).toEqual({ ...before, incoming: 0 });
  });

  it('leaves nothing of an upload that the upkeep has given up before its end', async () => {
    const before = storedContents();
    const socket = await beginUpload(400_000);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await stage.database.query('UPDATE file_leftover SET due_at = now()');
    await startUpkeep(stage.database);
    await until(async () => (await leftovers()) === 0, { what: 'the upload to be given up' });
    socket.write(randomBytes(100_000));
    await until(() => answer.includes('\r\n\r\n'), { what: 'the answer' });
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*took too long/s);
    socket.destroy();
    await until(async () => (await leftovers()) === 0, { what: 'the content to be deleted' });
    expect(storedContents()).toEqual({ ...before, incoming: 0 });
  });

  it('keeps a file as long as a Task of its owner names it, whatever its time is', async () => {
    const [named, followed, free] = [
      await keep(randomBytes(3)),
      await keep(randomBytes(3)),
      await keep(randomBytes(3)),
    ];
    const { name } = await api.save(linear(unique('w'), input('in'), script('q', { ask: 'Which?' }), output('out')));
    const send = (caller: Api, { url }: SentFile, fields: object = {}): Promise<Task> =>
      sendTask(caller.base(name), 'x', {
        headers: caller.headers,
        fields: { parts: [{ text: 'x' }, { url, mediaType: 'text/plain' }], ...fields },
      });
    const task = await send(api, named);
    await send(api, followed, { taskId: task.id });
    await send(others, free);
    expect((await api.call('DELETE', `/files/${free.id}`)).status).toBe(204);
    await stage.database.query("UPDATE file SET expires_at = now() - interval '1 day' WHERE id = ANY($1)", [
      [named.id, followed.id],
    ]);
    await endUpkeep(stage.database);
    for (const { id } of [named, followed]) {
      const reply = await api.call('DELETE', `/files/${id}`);
      expect([reply.status, reply.body['reason'], reply.body['detail']]).toEqual([
        409,
        'FILE_IN_USE',
        expect.stringContaining(task.id),
      ]);
      expect((await read(`/api/files/${id}`)).status).toBe(200);
    }
    // As a purge does.
    await stage.database.query('DELETE FROM task WHERE owner = $1', ['ann']);
    expect((await api.call('DELETE', `/files/${named.id}`)).status).toBe(204);
    await endUpkeep(stage.database);
    await until(async () => (await read(`/api/files/${followed.id}`)).status === 404, { what: 'the upkeep' });
  });

  it('records a Task that names a file while somebody who deletes it stands still, and keeps the file if he rolls back', async () => {
    const file = await keep(randomBytes(3));
    const { name } = await api.save(linear(unique('w'), input('in'), output('out')));
    const session = new pg.Client({ connectionString: stage.database.url });
    await session.connect();
    try {
      await session.query('BEGIN');
      await session.query('SELECT FROM file WHERE id = $1 FOR UPDATE', [file.id]);
      const fields = { parts: [{ text: 'x' }, { url: file.url, mediaType: 'text/plain' }] };
      const task = await sendTask(api.base(name), 'x', { headers: ann.headers, fields });
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    } finally {
      await session.end();
    }
    expect((await api.call('DELETE', `/files/${file.id}`)).status).toBe(409);
    expect((await read(`/api/files/${file.id}`)).status).toBe(200);
  });

  it('takes no body of another type anywhere else', async () => {
    const types = ['multipart/form-data; boundary=x', 'application/vnd.parley.streamed-body', 'image/png'];
    for (const type of types) {
      const reply = await api.call('POST', '/workflows', 'x', { 'content-type': type });
      expect([type, reply.status]).toEqual([type, 415]);
    }
  });

  it('deletes what a process left that died in the middle of an upload, and leaves the folders of others', async () => {
    await keep(randomBytes(3));
    const keyIn = (place: string): string => `${place}/${'0'.repeat(32)}/00000000-0000-4000-8000-000000000000`;
    const [here, elsewhere] = [keyIn(placesIn(dataDir)[0]!), keyIn('ffffffff')];
    const insert = 'INSERT INTO file_leftover (storage_key, due_at) VALUES ($1, now())';
    for (const key of [here, elsewhere]) await stage.database.query(insert, [key]);
    await startUpkeep(stage.database);
    await until(async () => (await leftovers()) === 1, { what: 'the upkeep to delete what was left' });
    const left = await stage.database.query<{ storage_key: string }>('SELECT storage_key FROM file_leftover');
    expect(left.map(({ storage_key }) => storage_key)).toEqual([elsewhere]);
  });
});

/**
 * Sends the first 300,000 bytes of an upload by Ann.
 * @param open uploads that are under way then
 * @returns the connection, once they have arrived
 */
async function beginUpload(length: number, open = 1): Promise<Socket> {
  const socket = openUpload(stage.parley.url, ann.key, length);
  await until(() => storedContents().incoming === open, { what: 'the upload to arrive' });
  return socket;
}
