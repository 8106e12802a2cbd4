import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Part, Task } from '#libs/protocol';
import { rpc, sendTask } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { answersParts } from '../support/fake-behaviour.js';
import { startParley } from '../support/parley.js';
import { withLockedTable } from '../support/locked-table.js';
import { useStage } from '../support/stage.js';
import { contentsIn } from '../support/stored-contents.js';
import { until } from '../support/until.js';
import { digest, endUpkeep } from '../support/uploads.js';
import { Api, external, input, linear, output, script, unique } from '../support/workflow.js';

const MEGABYTE = 1024 ** 2;
const [ann, eve] = [testCaller('ann'), testCaller('eve')];
const dataDir = mkdtempSync(join(tmpdir(), 'parley-large-parts-'));
const options = { dataDir, env: { ...apiKeyEnv(ann, eve), FILES_QUOTA: '4mb', FILES_OFFLOAD: '256kb' } };
const stage = useStage(options);
let api: Api;

beforeAll(() => {
  api = new Api(stage.parley.url, ann.headers);
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

function rawPart(bytes: Buffer): Part {
  return { raw: bytes.toString('base64'), mediaType: 'image/png', filename: 'a.png' };
}

function keptPart(bytes: Buffer): object {
  const { raw: _raw, ...part } = rawPart(bytes);
  const file = { id: expect.any(String), size: bytes.length, sha256: digest(bytes) };
  return {
    ...part,
    url: expect.stringMatching(`^${stage.parley.url}/api/files/`),
    metadata: { 'parley/file': file },
  };
}

/** Removes the content of a file from the storage, whose row stays. */
async function loseContent(fileId: string): Promise<void> {
  const [content] = await stage.database.query<{ storage_key: string }>(
    `SELECT storage_key FROM file_content AS content JOIN file USING (tenant, owner, sha256) WHERE file.id = $1`,
    [fileId],
  );
  rmSync(join(dataDir, 'files', content!.storage_key));
}

/** Has a run of a workflow with a picture as its input. @returns the id of its file */
async function sendPicture(bytes: Buffer, caller = ann): Promise<string> {
  const { name } = await new Api(stage.parley.url, caller.headers).save(
    linear(unique('w'), input('in'), output('out')),
  );
  const parts = [{ text: 'look' }, rawPart(bytes)];
  const task = await sendTask(api.base(name), parts, { headers: caller.headers });
  return (task.history![0]!.parts[1]!.metadata!['parley/file'] as { id: string }).id;
}

/** Resolves with the id of a file of Eve that no Task names, once its row is there. */
function unnamedFile(): Promise<string> {
  const find = `SELECT id FROM file WHERE owner = 'eve' AND NOT EXISTS (SELECT FROM file_use WHERE file_id = id)`;
  const look = async (): Promise<string | undefined> => (await stage.database.query<{ id: string }>(find))[0]?.id;
  return until(look, { what: 'the file' });
}

async function bytesOfLogs(taskId: string): Promise<number> {
  const [row] = await stage.database.query<{ bytes: number }>(
    `SELECT sum(length(task_log::text))::int AS bytes FROM task_log
     WHERE task_id IN (SELECT task_id FROM task WHERE task_id = $1 OR parent_task_id = $1)`,
    [taskId],
  );
  return row!.bytes;
}

describe('large Parts with FILES_OFFLOAD', () => {
  it('stay out of the logs of a run, and everybody gets the same bytes', async () => {
    const agent = await stage.fake({ card: { defaultInputModes: ['text/plain', 'image/*'] } });
    const [sent, answered] = [randomBytes(2 * MEGABYTE), randomBytes(MEGABYTE)];
    agent.always(answersParts(rawPart(answered)));
    const { name } = await api.save(linear(unique('raw'), input('in'), external('far', agent.url), output('out')));
    const headers = { ...ann.headers, 'idempotency-key': unique('key') };
    const fields = { messageId: unique('m') };
    const send = (): Promise<Task> => sendTask(api.base(name), [{ text: 'look' }, rawPart(sent)], { headers, fields });
    const task = await send();
    const files = 'SELECT count(*)::int AS count FROM file';
    const stored = await stage.database.query(files);
    expect((await send()).id).toBe(task.id);
    expect(await stage.database.query(files)).toEqual(stored);

    const bytes = await bytesOfLogs(task.id);
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(50_000);
    const opened = agent.sends[0]?.message?.parts.find(({ url }) => url !== undefined)?.url ?? '';
    expect(digest(Buffer.from(await (await fetch(opened)).arrayBuffer()))).toBe(digest(sent));
    expect(task.history?.[0]?.parts[1]).toEqual(keptPart(sent));
    const [answer] = task.artifacts?.[0]?.parts ?? [];
    expect(answer).toEqual(keptPart(answered));
    const own = await fetch(answer!.url!, { headers: ann.headers });
    expect(Buffer.from(await own.arrayBuffer()).equals(answered)).toBe(true);
    const older = { headers: { ...ann.headers, 'a2a-version': '0.3' } };
    const read = await rpc(api.base(name), 'tasks/get', { id: task.id }, older);
    expect(JSON.stringify(read.body)).toContain(`"uri":"${answer!.url}"`);
    const { id } = answer!.metadata!['parley/file'] as { id: string };
    expect((await api.call('DELETE', `/files/${id}`)).status).toBe(409);
  });

  it('stay as they are where the caller may store nothing more, without what they say of themselves', async () => {
    const { name } = await api.save(linear(unique('full'), input('in'), script('q', { echo: true })));
    const said = { 'parley/file': { id: 'x', size: 1, sha256: 'x' }, mine: true };
    const part = { ...rawPart(randomBytes(1.5 * MEGABYTE)), metadata: said };
    const task = await sendTask(api.base(name), [{ text: 'x' }, part], { headers: ann.headers });
    expect(task.history?.[0]?.parts[1]).toEqual({ ...part, metadata: { mine: true } });
  });

  it('are read by expressions as the node answered them', async () => {
    const agent = await stage.fake();
    const part = rawPart(randomBytes(300_000));
    agent.always(answersParts(part));
    const others = new Api(stage.parley.url, eve.headers);
    const values = { end: '${nodes.far.artifacts[0].parts[0].raw.substring(399990)}' };
    const set = { id: 'q', type: 'set', config: { values } };
    const definition = { ...linear(unique('read'), external('far', agent.url), set), language: 2 };
    const { name } = await others.save(definition as never);
    const task = await sendTask(others.base(name), 'x', { headers: eve.headers });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.data).toEqual({ end: part.raw!.slice(399_990) });
  });

  it('are stored again where the same bytes of before cannot be read any more', async () => {
    const bytes = randomBytes(300_000);
    const read = (id: string): Promise<Response> =>
      fetch(`${stage.parley.url}/api/files/${id}`, { headers: eve.headers });
    const first = await sendPicture(bytes, eve);
    await loseContent(first);
    expect((await read(first)).status).toBe(503);
    const second = await sendPicture(bytes, eve);
    for (const id of [first, second])
      expect(digest(Buffer.from(await (await read(id)).arrayBuffer()))).toBe(digest(bytes));
    await stage.database.query('UPDATE file_leftover SET due_at = now()');
    await endUpkeep(stage.database);
    expect(await stage.database.query('SELECT FROM file_leftover')).toEqual([]);
    expect((await read(second)).status).toBe(200);
  });

  it('are durable before the Task that names them is recorded, and cannot be deleted meanwhile', async () => {
    const others = new Api(stage.parley.url, eve.headers);
    const bytes = randomBytes(300_000);
    const { name } = await others.save(linear(unique('held'), input('in'), output('out')));
    const send = (): Promise<Task> =>
      sendTask(others.base(name), [{ text: 'x' }, rawPart(bytes)], { headers: eve.headers });
    const { id, sending } = await withLockedTable(stage.database.url, 'task', async () => {
      const held = { sending: send(), id: await unnamedFile() };
      const read = await fetch(`${stage.parley.url}/api/files/${held.id}`, { headers: eve.headers });
      expect(digest(Buffer.from(await read.arrayBuffer()))).toBe(digest(bytes));
      const refused = await others.call('DELETE', `/files/${held.id}`);
      expect([refused.status, refused.body['reason']]).toEqual([409, 'FILE_IN_USE']);
      return held;
    });
    const task = await sending;
    expect(task.history?.[0]?.parts[1]?.url).toBe(`${stage.parley.url}/api/files/${id}`);
    const named = await others.call('DELETE', `/files/${id}`);
    expect([named.status, named.body['detail']]).toEqual([409, expect.stringContaining(task.id)]);
  });

  it('leave nothing for good where a kill keeps their Task from being recorded', async () => {
    const others = new Api(stage.parley.url, eve.headers);
    const before = contentsIn(dataDir);
    const { name } = await others.save(linear(unique('killed'), input('in'), output('out')));
    const parts = [{ text: 'x' }, rawPart(randomBytes(300_000))];
    const id = await withLockedTable(stage.database.url, 'task', async (endWaiting) => {
      const answer = sendTask(others.base(name), parts, { headers: eve.headers }).catch(() => 'lost');
      const unnamed = await unnamedFile();
      await stage.parley.kill9();
      expect(await answer).toBe('lost');
      await endWaiting();
      return unnamed;
    });
    stage.parley = await startParley({ ...options, databaseUrl: stage.database.url });
    expect(contentsIn(dataDir).contents).toBe(before.contents + 1);
    expect(await unnamedFile()).toBe(id);
    await stage.database.query('UPDATE file SET expires_at = now(), held_until = now() WHERE id = $1', [id]);
    await endUpkeep(stage.database);
    expect(await stage.database.query('SELECT FROM file WHERE id = $1', [id])).toEqual([]);
    expect(contentsIn(dataDir)).toEqual(before);
  });
});
