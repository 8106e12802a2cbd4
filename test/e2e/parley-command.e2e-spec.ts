import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, Part } from '#libs/protocol';
import type { FakeStep } from '../support/fake-behaviour.js';
import { ParleyCommand } from '../support/parley-command.js';
import { freshDatabase } from '../support/postgres.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { linear, script, unique, type Workflow, type WorkflowNode } from '../support/workflow.js';

const stage = useSharedStage();
let parley: ParleyCommand;

beforeEach(() => {
  parley = new ParleyCommand({ PARLEY_URL: `${stage.parley.url}/` });
});

afterEach(() => parley.end());

/** Writes a workflow into a file, as YAML; its person is asked for a word. */
function asks(file: string, name: string, prompt = 'Shall it?'): void {
  mkdirSync(join(parley.folder, 'workflows'), { recursive: true });
  const text = `# A comment
name: ${name}
nodes:
  - { id: topic, type: input }
  - id: gate
    type: human
    config:
      prompt: ${prompt}
      form: { type: object, required: [decision], properties: { decision: { enum: ['yes', 'no'] }, times: { type: integer } } }
  - { id: end, type: output, config: { prompt: '{{topic}}' } }
edges:
  - { from: topic, to: gate }
  - { from: gate, to: end }
`;
  writeFileSync(join(parley.folder, 'workflows', file), text);
}

const lines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('parley with workflows in files', () => {
  it('applies a folder, says what is unchanged, and what differs after an edit elsewhere', async () => {
    const name = unique('files');
    asks('one.yaml', name);
    expect(await parley.run('diff')).toMatchObject({ code: 2, out: `${name} is only in the files\n` });
    expect(await parley.run('apply', '--dry-run')).toMatchObject({ code: 2, out: `${name} would be created\n` });
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `${name} created\n` });
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `${name} unchanged\n` });
    const json = await parley.run('apply', '--json');
    expect(JSON.parse(json.out)).toEqual({ workflows: [{ name, action: 'unchanged' }] });
    expect((await parley.run('diff')).code).toBe(0);
    const { body } = await stage.api.call('GET', `/workflows/${name}`);
    const notes = [{ text: 'Ask Mia first', position: { x: 0, y: 90 } }];
    await stage.api.call('PUT', `/workflows/${name}`, { ...body, description: 'from the console', notes });
    const differs = await parley.run('diff');
    expect([differs.code, differs.out]).toEqual([2, expect.stringContaining('description\n    - "from the console"')]);
    expect(differs.out).toContain('notes\n    - [{"text":"Ask Mia first"');
  });

  it('does not replace what others have changed meanwhile, unless told to', async () => {
    const name = unique('two');
    asks('one.yaml', name);
    await parley.run('apply');
    const other = new ParleyCommand({ PARLEY_URL: stage.parley.url });
    stage.defer(() => other.end());
    cpSync(parley.folder, other.folder, { recursive: true });
    asks('one.yaml', name, 'Mine?');
    expect((await parley.run('apply')).out).toBe(`${name} updated\n`);
    const late = await other.run('apply');
    expect(late).toMatchObject({ code: 1, out: '' });
    expect(late.err).toContain(`the workflow "${name}" has the revision 2, and the revision 1 was expected`);
    expect(late.err).toContain('parley diff');
    expect((await other.run('apply', '--force')).out).toBe(`${name} updated\n`);
  });

  it('replaces a workflow that it has never seen only when told to, or after an export', async () => {
    const [name, other] = [unique('foreign'), unique('new')];
    for (const it of [name, other]) await stage.api.save({ name: it, nodes: [{ id: 'a', type: 'input' }], edges: [] });
    asks('one.yaml', name);
    for (const more of [[], ['--dry-run'], ['--prune']]) {
      const refused = await parley.run('apply', ...more);
      expect([refused.code, refused.out, refused.err]).toEqual([
        1,
        '',
        expect.stringContaining('parley apply --adopt'),
      ]);
      expect(refused.err).toContain(`workflows/one.yaml:2 name: the workflow "${name}" is there with the revision 1`);
    }
    expect((await parley.run('diff')).out).toContain(`${name} differs`);
    expect(await parley.run('apply', '--adopt')).toMatchObject({ code: 0, out: `${name} updated\n` });
    asks('one.yaml', name, 'Again?');
    // A copy of the folder as a repository has it: with its mark, and without what this copy has seen.
    rmSync(join(parley.folder, 'workflows/.parley/seen.json'));
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `${name} updated\n` });
    await parley.run('export', other);
    asks(`${other}.yaml`, other);
    expect((await parley.run('apply')).out).toContain(`${other} updated\n`);
  });

  it('deletes nothing while a file that was meant as a workflow cannot be read', async () => {
    const name = unique('kept');
    asks('one.yaml', name);
    await parley.run('apply');
    writeFileSync(join(parley.folder, 'workflows/one.yaml'), `name: ${name}\nnodes:\n  gate: { type: human }\n`);
    const refused = await parley.run('apply', '--prune');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('workflows/one.yaml:3: a workflow needs')]);
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(200);
  });

  it('deletes with --prune what it applied before and no file has, and nothing else', async () => {
    const [kept, dropped, foreign] = [unique('kept'), unique('dropped'), unique('foreign')];
    await stage.api.save({ name: foreign, nodes: [{ id: 'a', type: 'input' }], edges: [] });
    asks('one.yaml', kept);
    asks('two.yaml', dropped);
    await parley.run('apply');
    writeFileSync(join(parley.folder, 'workflows/two.yaml'), '# nothing\n');
    expect((await parley.run('apply')).out).toBe(`${kept} unchanged\n`);
    expect((await parley.run('apply', '--prune')).out.split('\n').toSorted()).toEqual(
      ['', `${dropped} deleted`, `${kept} unchanged`].toSorted(),
    );
    expect((await stage.api.call('GET', `/workflows/${foreign}`)).status).toBe(200);
  });

  it('names the file and the line of what is wrong, and saves nothing', async () => {
    const name = unique('wrong');
    asks('one.yaml', name);
    writeFileSync(join(parley.folder, 'workflows/two.json'), `{"name":"${name}2","nodes":[{"id":"a","type":"odd"}]}`);
    const wrong = await parley.run('apply');
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/workflows\/two\.json:1 .*unknown node type "odd"/),
    ]);
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
    const typed = `{"name":"${name}2",
"edges":[{"from":"draft","to":"drfat"}],
"nodes":[{"id":"draft","type":"agent","config":{"promt":"Hi"}},
{"id":"b","type":"inptu"},{"id":"b","type":"agent","timout":"1m"}]}`;
    writeFileSync(join(parley.folder, 'workflows/two.json'), typed);
    const all = await parley.run('apply');
    const places = [
      /:2 edges\[0\]\.to: .*there is no node "drfat"; did you mean "draft"\?/,
      /:3 nodes\[0\]\.config\.promt: warning: .*unknown config key "promt" .*; did you mean "prompt"\?/,
      /:4 nodes\[1\]\.type: .*unknown node type "inptu"; did you mean "input"\?/,
      /:4 nodes\[2\]\.id: .*another node has the id "b" as well/,
      /:4 nodes\[2\]\.timout: warning: unknown key "timout": .*; did you mean "timeout"\?/,
    ];
    const shown = all.err.trimEnd().split('\n');
    expect(shown).toEqual(places.map((it) => expect.stringMatching(it)));
    const checked = (await parley.run('check')).out.trimEnd().split('\n').slice(0, -1);
    expect(checked).toEqual(places.map((it) => expect.stringMatching(it)));
    writeFileSync(join(parley.folder, 'workflows/two.json'), '{"name": }');
    expect((await parley.run('apply')).err).toContain('workflows/two.json: ');
    writeFileSync(join(parley.folder, 'workflows/two.json'), '{}');
    asks('three.yaml', name, '${env:UNSET_PROMPT}');
    expect((await parley.run('apply')).err).toContain('the environment variable UNSET_PROMPT is not set');
  });

  it('checks the files without a service, and finds what the service would', async () => {
    const [name, wrong] = [unique('fine'), unique('wrong')];
    asks('one.yaml', name);
    const alone = new ParleyCommand({ PARLEY_URL: 'http://127.0.0.1:9' });
    stage.defer(() => alone.end());
    cpSync(join(parley.folder, 'workflows'), join(alone.folder, 'workflows'), { recursive: true });
    expect(await alone.run('check')).toMatchObject({ code: 0, out: '1 workflow checked, no problems found.\n' });
    const nodes = [
      { id: 'a', type: 'odd' },
      { id: 'b', type: 'tool', config: { tool: 'nope' } },
    ];
    writeFileSync(join(alone.folder, 'workflows/two.json'), `{"name":"${wrong}",\n"nodes":${JSON.stringify(nodes)}}`);
    const found = await alone.run('check', '-f', 'workflows/');
    expect([found.code, found.out]).toEqual([
      2,
      expect.stringMatching(/^workflows\/two\.json:2 .*unknown node type "odd"/),
    ]);
    const { problems } = JSON.parse((await alone.run('check', '--json')).out) as { problems: object[] };
    const { body } = await stage.api.call('POST', '/workflows/check', { name: wrong, nodes });
    const place = { file: 'workflows/two.json', line: 2, column: expect.any(Number) };
    const expected = (body as { problems: object[] }).problems.map((problem) => ({ ...place, ...problem }));
    expect(problems).toEqual(expected);
    writeFileSync(join(alone.folder, 'workflows/four.yaml'), 'name: four\nnodes:\n  a: { type: input }\n');
    writeFileSync(join(alone.folder, 'workflows/five.json'), '{"name": }');
    const all = JSON.parse((await alone.run('check', '--json')).out) as { problems: object[] };
    expect(all.problems).toEqual([
      { file: 'workflows/five.json', severity: 'error', code: 'UNREADABLE', path: '', detail: expect.any(String) },
      expect.objectContaining({ file: 'workflows/four.yaml', line: 3, code: 'UNREADABLE' }),
      ...expected,
    ]);
    const schema = await fetch(`${stage.parley.url}/schemas/workflow.json`);
    expect(JSON.parse((await alone.run('schema')).out)).toEqual(await schema.json());
  });

  it('writes workflows into files that can be applied again', async () => {
    const name = unique('export');
    asks('one.yaml', name);
    await parley.run('apply');
    const written = await parley.run('export', name, '--folder', 'out');
    expect(written).toMatchObject({ code: 0, out: `${name} → out/${name}.yaml\n` });
    expect(readFileSync(join(parley.folder, `out/${name}.yaml`), 'utf8')).toContain('- id: gate\n');
    expect((await parley.run('apply', '--folder', 'out')).out).toBe(`${name} unchanged\n`);
  });
});

describe('parley with runs', () => {
  it('starts one, shows it, answers it, and follows it to its end', async () => {
    const name = unique('asks');
    asks('one.yaml', name);
    await parley.run('apply');
    const { runId } = JSON.parse((await parley.run('run', name, '-i', 'topic=tea', '--json')).out) as { runId: string };
    await stage.api.reached(runId, ['input-required']);
    expect((await parley.run('runs', '-w', name)).out).toMatch(new RegExp(`${runId}\\s+${name}\\s+input-required`));
    expect((await parley.run('logs', runId)).out).toContain('input.required  [gate] Shall it?');
    const asked = await parley.run('answer', runId);
    expect([asked.code, asked.out]).toEqual([0, expect.stringContaining('decision: yes | no')]);
    expect((await parley.run('answer', runId, '-i', 'decision=perhaps')).code).toBe(2);
    const following = parley.start('logs', '-f', runId, '--json');
    expect((await parley.run('answer', runId, '-i', 'decision=yes', '-i', 'times=3')).code).toBe(0);
    const { code, out } = await following.ended();
    const events = lines(out) as { type: string; sequence: number }[];
    expect(code).toBe(0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
    expect((await parley.run('logs', '-f', runId)).out.trim().split('\n').at(-1)).toBe('tea');
    expect(await parley.run('cancel', runId)).toMatchObject({ code: 1, err: expect.stringContaining('has ended') });
    const again = JSON.parse((await parley.run('rerun', runId, '--from', 'gate', '--json')).out) as { origin: string };
    expect(again.origin).toBe(runId);
  });

  it('takes an answer in the same forms by answer, send and chat', async () => {
    const name = unique('form');
    const form = { type: 'object', required: ['lang'], properties: { lang: { enum: ['de', 'en'] } } };
    const pair = {
      ...form,
      required: ['lang', 'times'],
      properties: { ...form.properties, times: { type: 'integer' } },
    };
    const human = (id: string, asked: JsonObject): WorkflowNode => ({
      id,
      type: 'human',
      config: { prompt: `${id}?`, form: asked },
    });
    await stage.api.save(linear(name, human('one', form), human('two', pair)));
    const url = `${stage.parley.url}/a2a/workflows/${name}/`;
    const first = JSON.parse((await parley.run('send', url, 'go', '--json')).out) as { taskId: string };
    const task = ['--task', first.taskId];
    const second = await parley.run('send', url, 'de', ...task);
    expect([second.code, second.out, second.err]).toEqual([0, 'two?\n', expect.stringContaining('times: integer')]);
    const refusal = 'one required field: answer it with -i lang=de -i times=1, or with --data';
    expect(await parley.run('send', url, 'de', ...task)).toMatchObject({
      code: 2,
      err: expect.stringContaining(refusal),
    });
    const done = await parley.run('send', url, '-i', 'lang=de', '-i', 'times=3', ...task);
    expect([done.code, JSON.parse(done.out)]).toEqual([0, { lang: 'de', times: 3 }]);

    const { runId } = JSON.parse((await parley.run('run', name, '--json')).out) as { runId: string };
    await stage.api.reached(runId, ['input-required']);
    expect((await parley.run('answer', runId, 'de')).code).toBe(0);
    await until(async () => (await parley.run('answer', runId)).out.startsWith('two asks'), {
      what: 'the second question',
    });
    expect(await parley.run('answer', runId, 'de')).toMatchObject({ code: 2, err: expect.stringContaining(refusal) });
    expect((await parley.run('answer', runId, '--data', '{"lang":"de","times":3}')).code).toBe(0);

    const chat = parley.start('chat', url, '--json');
    chat.child.stdin!.end('go\nde\nde\n-i lang=en -i times=2\n');
    const answers = lines((await chat.ended()).out) as object[];
    expect(answers).toMatchObject([
      { text: 'one?' },
      { text: 'two?' },
      { error: { message: expect.stringContaining(refusal) } },
      { text: '{"lang":"en","times":2}', state: 'TASK_STATE_COMPLETED' },
    ]);
  });

  it('ends with 1 where the run fails, and with 130 at Ctrl-C, which leaves the run alone', async () => {
    const [fails, waits] = [unique('fails'), unique('waits')];
    await stage.api.save(linear(fails, script('a', { fail: 'no more tea' })));
    expect(await parley.run('run', fails, '--follow')).toMatchObject({
      code: 1,
      out: expect.stringContaining('no more tea'),
    });
    asks('one.yaml', waits);
    await parley.run('apply');
    const following = parley.start('run', waits, '-i', 'topic=tea', '--follow');
    await until(() => following.out().includes('input.required'), { what: 'the question' });
    following.child.kill('SIGINT');
    const { code, err } = await following.ended();
    expect([code, err]).toEqual([130, expect.stringContaining('The run continues')]);
    const { runId } = (JSON.parse((await parley.run('runs', '-w', waits, '--json')).out) as { runId: string }[])[0]!;
    expect((await parley.run('cancel', runId)).out).toContain(`Run ${runId} is canceled.\n`);
  });
});

describe('parley', () => {
  it('writes a template, and does not write over it', async () => {
    expect((await parley.run('init')).out).toContain('approval');
    expect((await parley.run('init', 'approval')).out).toContain('workflows/approval.json');
    expect(existsSync(join(parley.folder, 'workflows/approval.json'))).toBe(true);
    await parley.run('init', 'briefing');
    const { nodes } = JSON.parse(readFileSync(join(parley.folder, 'workflows/briefing.json'), 'utf8')) as Workflow;
    const starts = nodes.flatMap(({ type, config }) => (type === 'external' ? [String(config?.['description'])] : []));
    for (const start of starts) {
      const [, file = ''] = / parley agent --script (\S+) --port \d+$/.exec(start) ?? [];
      expect([start, existsSync(join(parley.folder, file))]).toEqual([start, true]);
    }
    expect(starts).toHaveLength(2);
    // A file that is the same already is no obstacle.
    const again = await parley.run('init', 'approval');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('\n  parley dev\n') });
    writeFileSync(join(parley.folder, 'workflows/approval.json'), '{}');
    expect(await parley.run('init', 'approval')).toMatchObject({
      code: 2,
      err: expect.stringContaining('already there'),
    });
    expect(await parley.run('init', 'nope')).toMatchObject({ code: 2, err: expect.stringContaining('briefing') });
  });

  it('talks to agents, and reads their cards', async () => {
    const agent = await stage.fake({ name: 'waiter' });
    agent.always({ message: [{ text: 'hello' }] });
    expect(await parley.run('send', agent.url, 'hi')).toMatchObject({ code: 0, out: 'hello\n' });
    const { out } = await parley.run('card', agent.url, '--json');
    expect(JSON.parse(out)).toMatchObject({ card: { name: 'waiter' }, version: '1.0' });
    expect(await parley.run('card', 'http://127.0.0.1:9')).toMatchObject({ code: 1 });
    const slow = await stage.fake({ streaming: true });
    slow.always({
      steps: [
        { status: 'TASK_STATE_WORKING', text: 'Boiling' },
        { status: 'TASK_STATE_COMPLETED', text: 'tea' },
      ],
    });
    expect(await parley.run('send', slow.url, 'tea')).toMatchObject({ code: 0, out: 'tea\n', err: '… Boiling\n' });
    const artifact = (artifactId: string, part: Part): FakeStep => ({ artifact: { artifactId, parts: [part] } });
    slow.always({
      steps: [
        artifact('cup', { text: 'green tea' }),
        artifact('bill', { raw: 'MiBFVVI=', filename: 'bill.txt', mediaType: 'text/plain' }),
        { status: 'TASK_STATE_FAILED', text: 'The kettle broke' },
      ],
    });
    const broken = await parley.run('send', slow.url, 'tea');
    const shown = 'green tea\nbill.txt (text/plain, 5 bytes)\n';
    expect(broken).toEqual({ code: 1, out: shown, err: 'Task failed: The kettle broke\n' });
    const { out: json } = await parley.run('send', slow.url, 'tea', '--json');
    expect(JSON.parse(json)).toMatchObject({
      text: shown.trimEnd(),
      message: 'The kettle broke',
      state: 'TASK_STATE_FAILED',
      artifacts: [{ artifactId: 'cup' }, { artifactId: 'bill', parts: [{ raw: 'MiBFVVI=' }] }],
    });
  });

  it('serves an agent until it is told to end, in order, in a folder as npm makes it', async () => {
    const database = await freshDatabase();
    stage.defer(() => database.drop());
    const alone = new ParleyCommand({ DATABASE_URL: database.url });
    stage.defer(() => alone.end());
    writeFileSync(join(alone.folder, 'package.json'), '{"type":"commonjs"}');
    const agent = `import { defineAgent } from 'parley-a2a/agent';
import { words } from './words.ts';
export default defineAgent({ name: 'echo', run: async (ctx) => words(ctx.text) });`;
    writeFileSync(join(alone.folder, 'echo.ts'), agent);
    writeFileSync(join(alone.folder, 'words.ts'), 'export const words = (text: string): string => text;');
    const serving = alone.start('agent', 'serve', 'echo.ts', '--port', '0');
    await until(() => /^Agent echo is ready on \S+$/m.test(serving.out()), { what: 'the agent' });
    serving.child.kill('SIGINT');
    expect(await serving.ended()).toMatchObject({ code: 0, err: '' });
    expect(await alone.run('agent')).toMatchObject({ code: 2, err: expect.stringContaining('Give serve and a file') });
    expect((await alone.run('agent', '--help')).out).toMatch(/\nExamples:\n {2}parley agent serve /);
  });

  it('says what is wrong with a call, and how it ended', async () => {
    expect(await parley.run('nope')).toMatchObject({ code: 2, err: expect.stringContaining("unknown command 'nope'") });
    expect(await parley.run('run', 'nope', '-i', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('key=text'),
    });
    const unknown = await parley.run('run', unique('nope'), '--json');
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(unknown.err)).toMatchObject({ error: { status: 404, reason: 'NOT_FOUND' } });
    const away = await parley.run('runs', '--url', 'http://127.0.0.1:9');
    expect([away.code, away.err]).toEqual([1, expect.stringContaining('parley dev')]);
    const { out: examined } = await parley.run('doctor', '--json');
    for (const found of ['"service"', 'guarded: agents on this machine may be called; private and metadata addresses'])
      expect(examined).toContain(found);
    const { port } = new URL(stage.parley.url);
    const beside = new ParleyCommand({ PARLEY_URL: stage.parley.url, PORT: port });
    const { findings } = JSON.parse((await beside.run('doctor', '--json')).out) as { findings: { what: string }[] };
    const own = { what: `port ${port}`, state: 'ok', detail: 'in use by the service that runs now' };
    expect(findings).toContainEqual(own);
    beside.end();
    expect((await parley.run('completion', 'bash')).out).toContain('complete -F _parley parley');
    expect((await parley.run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
