import { globSync, readFileSync } from 'node:fs';
import type { FactName } from '#libs/authoring';

/** Every fact, or this does not compile. */
const FACTS: Record<FactName, true> = {
  'task.settled': true,
  'run.failed': true,
  'question.asked': true,
  'card.changed': true,
  'key.revoked': true,
  'replica.left': true,
};

/** The texts of the modules that the service is made of, and of the classes that they provide. */
const modules = globSync('{src,libs/*/src}/**/*.module.ts').map((path) => readFileSync(path, 'utf8'));
const providers = globSync('libs/*/src/**/*.ts', { exclude: ['**/*.spec.ts'] })
  .map((path) => readFileSync(path, 'utf8'))
  .filter((text) => text.includes('@OnFact(') && isProvided(/^export class (\w+) /m.exec(text)?.[1]));

function isProvided(name: string | undefined): boolean {
  return name !== undefined && modules.some((text) => new RegExp(`^ +${name},$`, 'm').exec(body(text)));
}

/** A module without its imports of files. */
function body(text: string): string {
  return text.slice(text.indexOf('@Module('));
}

it.each(Object.keys(FACTS))('%s has two listeners of the service or more, before any plugin', (name) => {
  const listeners = providers.flatMap((text) => text.split(`  @OnFact('${name}')\n`).slice(1));
  expect(listeners.length).toBeGreaterThanOrEqual(2);
});
