import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '#libs/protocol';
import { findBodyProblems } from './definition-check.js';
import { readDefinition } from './sent-definition.js';
import { brokenDefinitions, TypesWithKeys, WHOLE } from './testing/broken-definitions.js';
import type { WorkflowProblem } from './workflow-problem.js';

/** File with one line for each broken definition: its name, a digest of its stored form, and its problems in order. */
const GOLDEN = join(import.meta.dirname, 'testing/golden-problems.txt');
const NO_WORKFLOWS = { get: async () => undefined };

async function lineOf([name, sent]: [string, JsonValue]): Promise<string> {
  const problems = await findBodyProblems(sent, NO_WORKFLOWS, new TypesWithKeys());
  return [`${name} ${storedDigest(sent)}`, ...problems.map(problemText)].join(' | ');
}

function storedDigest(sent: JsonValue): string {
  const read = readDefinition(sent);
  return Array.isArray(read) ? '-' : createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 8);
}

function problemText({ severity, code, path, detail, node, edge, offset }: WorkflowProblem): string {
  const place = JSON.stringify({ node, edge, offset }).replaceAll('"', '');
  // The path already names a malformed member, so its name is omitted from the text.
  const text = detail.startsWith(`${path} `) ? detail.replace(path, '…') : detail;
  return `${severity} ${code} ${path} ${place} ${text}`;
}

describe('golden problems', () => {
  it('knows a definition that has every member and no problem', async () => {
    expect(await findBodyProblems(WHOLE, NO_WORKFLOWS, new TypesWithKeys())).toEqual([]);
  });

  it('finds in each broken definition the problems that were recorded, in their order', async () => {
    const lines = await Promise.all(brokenDefinitions().map(lineOf));
    // Records the problems again, after an intended change of them.
    if (process.env['RECORD_GOLDEN_LOGS'] !== undefined) writeFileSync(GOLDEN, `${lines.join('\n')}\n`);
    expect(lines).toEqual(readFileSync(GOLDEN, 'utf8').trimEnd().split('\n'));
  });
});
