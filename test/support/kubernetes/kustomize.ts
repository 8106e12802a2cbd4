import { spawnSync } from 'node:child_process';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IConfigMap } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/**
 * Describes tests that render manifests. Without a `kubectl` of version 1.21 or newer they are reported as skipped,
 * with the reason.
 */
export function describeWithKustomize(name: string, tests: () => void): void {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const version = status === 0 ? (/"kustomizeVersion": "v(\d+)\./.exec(stdout)?.[1] ?? '0') : undefined;
  const reason = version === undefined ? 'no kubectl here' : Number(version) < 4 ? 'kubectl is too old' : undefined;
  if (reason === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: ${reason})`, tests);
}

/** Returns the manifests that `kubectl kustomize` renders from a folder of deploy/k8s. */
export function rendered(folder: string): Manifest[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', `deploy/k8s/${folder}`], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return parseAllDocuments(stdout).map((it) => it.toJS() as Manifest);
}

export function manifest<T = Manifest>(manifests: readonly Manifest[], kind: string): T {
  const found = manifests.filter((it) => it.kind === kind);
  if (found.length !== 1) throw new Error(`There are ${found.length} manifests of kind ${kind}`);
  return found[0] as T;
}

type PodSpec = NonNullable<NonNullable<IDeployment['spec']>['template']['spec']>;

/** Members of the Deployment that the tests read. */
export interface RenderedDeployment {
  spec: NonNullable<IDeployment['spec']>;
  pod: PodSpec;
  container: PodSpec['containers'][number];
  /** Returns the container's environment: its settings, and the values that it takes from `secrets`. */
  environment(secrets: Readonly<Record<string, string>>): Record<string, string>;
}

export function deploymentOf(manifests: readonly Manifest[]): RenderedDeployment {
  const { spec } = manifest<IDeployment>(manifests, 'Deployment');
  const pod = spec?.template.spec;
  const container = pod?.containers[0];
  if (spec === undefined || pod === undefined || container === undefined) throw new Error('The Deployment is empty');
  const environment = (secrets: Readonly<Record<string, string>>): Record<string, string> => {
    const env: Record<string, string> = {};
    for (const { configMapRef } of container.envFrom ?? []) {
      const found = manifests.find((it) => it.kind === 'ConfigMap' && it.metadata.name === configMapRef?.name);
      if (found === undefined) throw new Error(`There is no ConfigMap ${configMapRef?.name}`);
      Object.assign(env, (found as IConfigMap).data);
    }
    for (const { name, value, valueFrom } of container.env ?? []) {
      const given = value ?? secrets[valueFrom?.secretKeyRef?.key ?? ''];
      if (given === undefined && !valueFrom?.secretKeyRef?.optional) throw new Error(`${name} has no value`);
      if (given !== undefined) env[name] = given;
    }
    return env;
  };
  return { spec, pod, container, environment };
}
