import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Who calls and is called, in which packages, and what they speak. */
export const FRAMEWORKS = {
  sdk10: { title: 'A2A SDK 1.x', packages: ['a2a-sdk-v1'], speaks: '1.0' },
  sdk03: { title: 'A2A SDK 0.3', packages: ['@a2a-js/sdk'], speaks: '0.3' },
  adk: { title: 'ADK', packages: ['@google/adk'], speaks: '0.3' },
  mastra: { title: 'Mastra', packages: ['@mastra/core', '@mastra/hono'], speaks: 'serves 0.3; calls in 0.3 and 1.0' },
  strands: { title: 'Strands', packages: ['@strands-agents/sdk'], speaks: '0.3, though its card says 0.2.0' },
  voltagent: {
    title: 'VoltAgent',
    packages: ['@voltagent/core', '@voltagent/a2a-server'],
    speaks: 'serves 0.2; has no client',
  },
} as const satisfies Record<string, { title: string; packages: readonly string[]; speaks: string }>;

export type Framework = keyof typeof FRAMEWORKS;

/** Versions by the names of packages. */
export type Packages = Record<string, string>;

const PINS = join(import.meta.dirname, 'package.json');
const ALIAS = /^npm:(.+)@([^@]+)$/;

/** The packages that a framework is tested in, as package.json pins them. */
export function testedPackages(framework: Framework): Packages {
  const { dependencies } = JSON.parse(readFileSync(PINS, 'utf8')) as { dependencies: Packages };
  const pins = FRAMEWORKS[framework].packages.map((name): [string, string] => {
    const pin = dependencies[name] ?? '';
    const [, aliased = name, version = pin] = ALIAS.exec(pin) ?? [];
    return [aliased, version];
  });
  return Object.fromEntries(pins);
}
