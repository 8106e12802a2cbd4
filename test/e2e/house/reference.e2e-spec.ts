import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nodesPage } from '../../../scripts/reference-pages.mjs';
import { useSharedStage } from '../../support/shared-stage.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');
const runEvents = readFileSync(join(ROOT, 'libs/workflow-engine/src/state/run-metadata.ts'), 'utf8').matchAll(
  /^  '([\w.]+)',$/gm,
);
const types = [...runEvents].map(([, type]) => type!);

describe('The reference (npm run reference writes it)', () => {
  const stage = useSharedStage();

  it('lists every member of definitions as the service has it', async () => {
    const schema = (await (await fetch(`${stage.parley.url}/schemas/workflow.json`)).json()) as object;
    expect(page('reference/nodes.md')).toBe(nodesPage(schema));
  });

  it('tells of run events', () => expect(types.length).toBeGreaterThan(25));

  it.each(types)('tells of the event %s', (type) => expect(page('EVENTS.md')).toContain(`\`${type}\``));
});
