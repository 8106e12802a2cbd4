import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  createClient,
  dataOf,
  outputsOf,
  ParleyError,
  textOf,
  type RunEventPayloads,
  type KnownEventType,
} from '#libs/client';
import type { RunEventType, StepPayloads } from '#libs/workflow-engine';
import { openapiTypes } from '../../scripts/openapi-types.mjs';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, script, unique } from '../support/workflow.js';

const ROOT = resolve(import.meta.dirname, '../..');

const CLIENT = join(ROOT, 'libs/client/src/index.ts');

/** A client that knows the types of a workflow. */
const TYPED = `import { type AnyRunEvent, createClient, dataOf, outputsOf, textOf, verifyWebhook } from '${CLIENT}';
interface Mine { greeting: { inputs: { topic: string; times?: number }; outputs: { said: string } } }
const typed = createClient<Mine>({ url: 'http://127.0.0.1:3000' });
`;

/** A program that uses the client. */
const USE = `${TYPED}const client = createClient({ url: 'http://127.0.0.1:3000' });
const { runId } = await client.run('greeting', { topic: 'tea' });
for await (const event of client.events(runId, { since: 3 })) {
  console.log(event.sequence.toFixed(), event.payload['text']);
  switch (event.type) {
    case 'node.completed':
      console.log(event.payload.output?.length, event.payload.artifacts?.[0]?.parts[0]?.text, event.payload['later']);
      break;
    case 'node.retrying':
      console.log(event.payload.failure.kind, event.payload.retryAt.slice(0, 10));
      break;
    case 'done':
      console.log(Object.keys(event.payload.state));
      break;
    default: {
      const later: AnyRunEvent = event;
      console.log(later.type, later.payload['any']);
    }
  }
}
await typed.run('greeting', { topic: 'tea' });
const said: string | undefined = outputsOf<Mine['greeting']['outputs']>(await typed.wait(runId)).said;
console.log(said, textOf(await typed.get(runId)), dataOf<{ a: number }>(await typed.get(runId))?.a);
const run = await client.wait(runId);
const status: 'running' | 'input-required' | 'completed' | 'failed' | 'canceled' = run.status;
const { id } = await verifyWebhook(new Request('https://hook.example'), { jwksUrl: 'https://parley.example/jwks' });
console.log(status, id.length, run.error?.message.length);
`;

/** Types whose payloads the client declares too narrowly, or without a member that the service sends. */
type Undeclared = {
  [T in keyof StepPayloads]: StepPayloads[T] extends RunEventPayloads[T]
    ? keyof StepPayloads[T] extends keyof RunEventPayloads[T]
      ? never
      : T
    : T;
}[keyof StepPayloads];

/** True if there is no type in a union. */
type IsNone<T> = [T] extends [never] ? true : { undeclared: T };

/** The types check fails on this line where the client knows the events less well than the service. */
const declared: [
  IsNone<Undeclared>,
  IsNone<Exclude<RunEventType, KnownEventType>>,
  IsNone<Exclude<KnownEventType, RunEventType>>,
] = [true, true, true];

describe('the typed client', () => {
  const stage = useSharedStage();
  const client = () => createClient({ url: stage.parley.url });

  it('has the types of the API as it is (npm run client-types writes them)', async () => {
    const document = (await (await fetch(`${stage.parley.url}/docs-json`)).json()) as object;
    const kept = readFileSync(join(ROOT, 'libs/client/src/openapi.ts'), 'utf8');
    expect((await openapiTypes(document)) === kept).toBe(true);
  });

  it('row G7: is all that the console needs: the console type-checks', () => {
    const compiler = join(ROOT, 'node_modules/typescript7/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', 'apps/console'], { cwd: ROOT });
    expect([status, stdout.toString()]).toEqual([0, '']);
  });

  it('declares each event of the service', () => expect(declared).not.toContain(false));

  it('starts a run once for a key, follows it, and gives its result', async () => {
    const name = unique('client');
    await stage.api.save(linear(name, input('topic'), output('end', { prompt: 'about {{topic}}' })));
    const options = { idempotencyKey: unique('key') };
    const { runId } = await client().run(name, { topic: 'tea' }, options);
    expect(await client().run(name, { topic: 'tea' }, options)).toEqual({ runId });
    const types: string[] = [];
    for await (const { type, sequence } of client().events(runId)) expect(types.push(type)).toBe(sequence);
    expect([types[0], types.at(-1)]).toEqual(['node.started', 'done']);
    expect(await Array.fromAsync(client().events(runId, { since: types.length }))).toEqual([]);
    const run = await client().wait(runId);
    expect(run).toMatchObject({ status: 'completed', result: [{ parts: [{ text: 'about tea' }] }] });
    expect([textOf(run), dataOf(run), outputsOf(run)]).toEqual(['about tea', undefined, { end: 'about tea' }]);
    expect((await client().list({ workflow: name })).runs).toHaveLength(1);
    const { origin } = await client().rerun(runId, { from: ['end'] });
    expect(origin).toBe(runId);
  });

  it('answers what a run asks, and cancels', async () => {
    const name = unique('client');
    const form = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };
    await stage.api.save(linear(name, { id: 'gate', type: 'human', config: { prompt: 'ok?', form } }));
    const { runId } = await client().run(name);
    for await (const { type } of client().events(runId)) if (type === 'input.required') break;
    const wrong = client().answer(runId, { node: 'gate', parts: [{ data: { ok: 'perhaps' } }] });
    await expect(wrong).rejects.toMatchObject({ status: 422, errors: [{ path: expect.stringContaining('ok') }] });
    await client().answer(runId, { node: 'gate', parts: [{ data: { ok: true } }] });
    expect((await client().wait(runId)).status).toBe('completed');
    await stage.api.save(linear(`${name}2`, script('slow', { sleep: 60_000 })));
    const other = await client().run(`${name}2`);
    expect(await client().cancel(other.runId)).toMatchObject({ status: 'canceled' });
    await expect(client().get('nope')).rejects.toBeInstanceOf(ParleyError);
  });

  it.each([
    ['Node', { lib: ['ES2023'], types: ['node'] }],
    ['a browser', { lib: ['ES2023', 'DOM', 'DOM.AsyncIterable', 'DOM.Iterable'], types: [] }],
  ])('compiles in a strict project of its own, for %s', (_, options) => {
    expect(compile(USE, options)).toEqual([]);
  });

  it('refuses a member of another event, and inputs and names that no workflow has', () => {
    const wrong = `${TYPED}
for await (const event of typed.events('r')) if (event.type === 'node.waiting') console.log(event.payload.retryAt.length);
await typed.run('greeting', { topics: 'tea' });
await typed.run('greetings', {});
`;
    const found = compile(wrong, { lib: ['ES2023'], types: ['node'] });
    expect(found.map((line) => /error (TS\d+)/.exec(line)?.[1])).toEqual(['TS18046', 'TS2561', 'TS2345']);
  });

  /** Compiles a program that uses the client in a strict project. @returns the lines of the compiler */
  function compile(program: string, options: { lib: string[]; types: string[] }): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'parley-client-'));
    stage.defer(() => rmSync(folder, { recursive: true, force: true }));
    const compilerOptions = {
      ...options,
      module: 'nodenext',
      target: 'ES2023',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'use.ts'), program);
    const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => /\berror TS/.test(line));
  }
});
