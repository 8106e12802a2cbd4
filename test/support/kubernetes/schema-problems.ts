import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './kustomize.js';

const TSC = join(process.cwd(), 'node_modules/typescript7/bin/tsc');
const OPTIONS = [
  ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--types', ''],
  ...['--module', 'nodenext', '--pretty', 'false'],
];

interface ModelClass {
  new (data: object): { validate(): void };
}

/**
 * Returns the problems of manifests by the schemas of Kubernetes and of Prometheus's operator. Validators check values;
 * types check for unknown fields, which the schemas allow.
 */
export async function schemaProblems(manifests: readonly Manifest[]): Promise<string[]> {
  const values = await Promise.all(manifests.map(valueProblem));
  return [...values.filter((it) => it !== undefined), ...fieldProblems(manifests)];
}

function moduleOf({ apiVersion }: Manifest): string {
  const known = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  return `${known}/${apiVersion}`;
}

async function valueProblem(manifest: Manifest): Promise<string | undefined> {
  const models = (await import(moduleOf(manifest))) as Record<string, ModelClass | undefined>;
  const Model = models[manifest.kind];
  if (Model === undefined) return `${manifest.apiVersion} has no ${manifest.kind}`;
  try {
    new Model(manifest).validate();
    return undefined;
  } catch (error) {
    return `${manifest.kind}: ${(error as Error).message}`;
  }
}

function fieldProblems(manifests: readonly Manifest[]): string[] {
  const cache = join(process.cwd(), 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'manifests-'));
  try {
    const file = join(folder, 'manifests.ts');
    const lines = manifests.map((it, index) => {
      const type = `import('${moduleOf(it)}').I${it.kind}`;
      return `export const ${it.kind}${index}: ${type} = ${JSON.stringify(it)};`;
    });
    writeFileSync(file, lines.join('\n'));
    const { stdout } = spawnSync(process.execPath, [TSC, ...OPTIONS, file], { encoding: 'utf8' });
    return [...stdout.matchAll(/^\S+: error TS\d+: (.*)$/gm)].map(([, problem = '']) => problem);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
