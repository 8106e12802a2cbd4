import 'reflect-metadata';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { JsonObject } from '#libs/protocol';
import { CheckList } from '../../support/check-list.js';
import { installPythonPackages, runOrFail, whyNoPython } from '../../support/python-packages.js';
import { OUR_CODECS } from './our-codec.js';

/**
 * Compares the codec of A2A with the official ones in Python (a2a-sdk) and Go (a2a-go): the Python one writes random
 * values of every message, as bytes and in five forms of ProtoJSON.
 *
 * - ProtoJSON made of the bytes, and bytes made of each form, are the same message to both official codecs.
 * - Answers of agents say the same in each form, and over gRPC.
 */
const HERE = import.meta.dirname;
/** Bytes that one answer of a process may have in all. */
const MOST_BYTES = 1024 ** 3;

/** Random value, as the official codec writes it. */
interface Sample {
  type: string;
  bytes: string;
  forms: Record<string, JsonObject>;
}

/** Message of ours that an official codec reads. */
interface Written {
  type: string;
  original: string;
  bytes?: string;
  json?: JsonObject;
  /** Description for a failure. */
  how: string;
  /** JSON of the message where it may differ from the original, for example because Parley adds a default. */
  says?: JsonObject;
}

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '150' }, seed: { type: 'string', default: String(Date.now()) } },
});
const missing = whyNoPython();
if (missing !== undefined) {
  process.stdout.write(`npm run fuzz -- codecs is skipped: ${missing}.\n`);
  process.exit(0);
}
const checks = new CheckList();
const folder = mkdtempSync(join(tmpdir(), 'parley-codecs-'));
try {
  const python = join(HERE, 'python');
  const bin = installPythonPackages(join(python, 'requirements.txt'), join(python, 'node_modules', '.python'));
  const codec = [join(bin, 'python'), join(python, 'codec.py')] as const;
  const samples = parseLines<Sample>(runOrFail(folder, ...withArgs(codec, 'generate', values.cases, values.seed)));
  const known = samples.filter(({ type }) => OUR_CODECS.has(type));
  const written = known.flatMap(writeSample);
  const what = `${written.length} messages made of ${known.length} values (seed ${values.seed})`;
  await checks.check('answers of agents say the same in each form', () => known.forEach(compareForms));
  await checks.check(`a2a-sdk reads ${what} as they are`, () => compareAll(written, ...withArgs(codec, 'read')));
  if (spawnSync('go', ['version']).status === 0)
    await checks.check(`a2a-go reads ${what} as they are`, () => compareAll(written, buildGoCodec(), []));
  else checks.skip('a2a-go reads them as they are', 'Go is not installed here');
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
checks.end();

function withArgs(command: readonly [string, string], ...args: string[]): [string, string[]] {
  return [command[0], [command[1], ...args]];
}

function buildGoCodec(): string {
  const sources = join(folder, 'go');
  cpSync(join(HERE, 'go'), sources, { recursive: true });
  runOrFail(sources, 'go', ['build', '-o', 'codec', '.']);
  return join(sources, 'codec');
}

/** Writes a value in all ways in which the service does. */
function writeSample({ type, bytes, forms }: Sample): Written[] {
  const codec = OUR_CODECS.get(type)!;
  const json = codec.toJson(Buffer.from(bytes, 'base64'));
  const written: Written[] = [{ type, original: bytes, json, how: 'ProtoJSON of the bytes' }];
  if (codec.read && readForm(type, forms['plain']!) === undefined) return written;
  for (const [form, sent] of Object.entries(forms)) {
    if (type === 'SendMessageRequest' && (form === 'names' || !forms['plain']!['message'])) continue;
    const ours = Buffer.from(codec.toBytes(sent)).toString('base64');
    const says = readForm(type, sent);
    written.push({ type, original: bytes, bytes: ours, how: `bytes of the form ${form}`, ...(says && { says }) });
  }
  return written;
}

/** Reads an answer of an agent; `undefined` if it is none or lacks what a Task needs. */
function readForm(type: string, form: JsonObject): JsonObject | undefined {
  try {
    return OUR_CODECS.get(type)?.read?.(form);
  } catch {
    return undefined;
  }
}

function compareForms({ type, bytes, forms }: Sample): void {
  const codec = OUR_CODECS.get(type)!;
  if (!codec.read) return;
  const plain = readForm(type, forms['plain']!);
  const overGrpc = readForm(type, codec.toJson(Buffer.from(bytes, 'base64')));
  for (const [form, read] of [
    ...Object.keys(forms).map((it) => [it, readForm(type, forms[it]!)] as const),
    ['gRPC', overGrpc] as const,
  ])
    assert.deepEqual(withTimes(read), withTimes(plain), `${type}, ${form}: ${bytes}`);
}

function compareAll(written: Written[], command: string, args: string[]): void {
  const lines = written.map(({ how: _how, says: _says, ...line }) => JSON.stringify(line)).join('\n');
  const { status, stdout, stderr } = spawnSync(command, args, {
    input: `${lines}\n`,
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
  });
  assert.equal(status, 0, stderr);
  const answers = parseLines<{ equal?: boolean; json?: JsonObject; error?: string }>(stdout);
  assert.equal(answers.length, written.length);
  for (const [index, { equal, json, error }] of answers.entries()) {
    const { type, how, says, original } = written[index]!;
    const at = `${type}, ${how}: ${original}`;
    assert.equal(error || undefined, undefined, at);
    if (says) assert.deepEqual(withTimes(readForm(type, json!)), withTimes(says), at);
    else assert.ok(equal, `${at}\n${JSON.stringify(json)}`);
  }
}

/** Returns a value in which equal times have one text: a writer may leave out zeros of a fraction. */
function withTimes(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value), (name, it: unknown) =>
    name === 'timestamp' && typeof it === 'string' ? new Date(it).toISOString() : it,
  );
}

function parseLines<T>(text: string): T[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
