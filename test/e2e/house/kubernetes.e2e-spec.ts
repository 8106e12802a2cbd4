import { readFileSync } from 'node:fs';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IService } from 'kubernetes-models/v1';
import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { loadConfig } from '#libs/service';
import { documentedMetrics } from '../../support/documented-metrics.js';
import {
  deploymentOf,
  describeWithKustomize,
  manifest,
  type Manifest,
  rendered,
} from '../../support/kubernetes/kustomize.js';
import { schemaProblems } from '../../support/kubernetes/schema-problems.js';

const KINDS = [
  'ConfigMap',
  'Deployment',
  'HorizontalPodAutoscaler',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
];
const FOLDERS: Record<string, string[]> = {
  base: KINDS,
  'overlays/production': KINDS,
  'overlays/small': KINDS.filter((it) => !['HorizontalPodAutoscaler', 'ServiceMonitor'].includes(it)),
};
/** Uploads that a replica receives at once (docs/FILES.md). */
const MOST_UPLOADS = 64;
const LABELS = { 'app.kubernetes.io/name': 'parley' };
const SECRETS = {
  'database-url': 'postgres://parley:secret@db.example/parley',
  'credentials-key': 'A'.repeat(43),
  'api-keys': `ann:${'k'.repeat(40)}`,
  'signals-url': 'nats://parley:secret@nats.example',
};
const seconds = (text: string | undefined): number => Number(/^(\d+)s$/.exec(text ?? '')?.[1]);

describeWithKustomize('the manifests for Kubernetes', () => {
  const all = new Map<string, Manifest[]>();
  beforeAll(() => {
    for (const folder of Object.keys(FOLDERS)) all.set(folder, rendered(folder));
  });

  it.each(Object.entries(FOLDERS))('%s has what it says', (folder, kinds) => {
    expect(
      all
        .get(folder)
        ?.map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(kinds);
  });

  it('are what the schemas allow, and have no field that nobody knows', async () => {
    const broken = rendered('base').filter(({ kind }) => ['Deployment', 'Service'].includes(kind));
    Object.assign(deploymentOf(broken).pod, { terminationGracePeriod: 35 });
    Object.assign(manifest<{ spec: object }>(broken, 'Service').spec, { ports: 'http' });
    expect(await schemaProblems([...[...all.values()].flat(), ...broken])).toEqual([
      'Service: data/spec/ports must be array',
      expect.stringContaining('IServicePort[]'),
      expect.stringContaining('terminationGracePeriod'),
    ]);
  });

  it.each(Object.keys(FOLDERS))(
    '%s replaces no replica before another one is ready, and gives each its time',
    (folder) => {
      const { spec, pod, container, environment } = deploymentOf(all.get(folder)!);
      expect(spec.strategy).toMatchObject({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } });
      expect(spec.replicas).toBeGreaterThanOrEqual(folder === 'overlays/production' ? 3 : 2);
      const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container;
      expect([startupProbe, readinessProbe, livenessProbe].map((it) => it?.httpGet)).toEqual(
        ['startup', 'ready', 'live'].map((it) => ({ path: `/health/${it}`, port: 'http' })),
      );
      const sleep = lifecycle?.preStop?.sleep?.seconds ?? 0;
      const unready = (readinessProbe?.periodSeconds ?? 0) * (readinessProbe?.failureThreshold ?? 0);
      expect(sleep).toBeGreaterThanOrEqual(unready);
      const grace = seconds(environment(SECRETS)['SHUTDOWN_GRACE']);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + grace + 5);
      expect(manifest<IPodDisruptionBudget>(all.get(folder)!, 'PodDisruptionBudget').spec).toMatchObject({
        maxUnavailable: 1,
        selector: { matchLabels: LABELS },
      });
    },
  );

  it.each(Object.keys(FOLDERS))('%s has settings that the service takes, and secrets only by reference', (folder) => {
    const manifests = all.get(folder)!;
    const { container, environment } = deploymentOf(manifests);
    const config = loadConfig(environment(SECRETS));
    expect(config).toMatchObject({ host: '0.0.0.0', port: container.ports?.[0]?.containerPort });
    expect(config.auth.mode).toBe('api-key');
    const text = JSON.stringify(manifests);
    expect(text.match(/postgres(ql)?:\/\/|"kind":"Secret"|password/gi)).toBeNull();
    const plain = container.env?.filter(({ valueFrom }) => valueFrom === undefined).map(({ name }) => name);
    expect(plain).toEqual(['NODE_OPTIONS']);
    const variables = readFileSync('docs/operations/RUN.md', 'utf8');
    for (const key of Object.keys(SECRETS)) expect(variables).toContain(key);
  });

  it.each(Object.keys(FOLDERS))('%s runs as nobody who may do anything', (folder) => {
    const { pod, container } = deploymentOf(all.get(folder)!);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const written = container.volumeMounts
      ?.filter(({ readOnly }) => readOnly !== true)
      .map(({ mountPath }) => mountPath);
    expect(written).toEqual(['/var/lib/parley', '/tmp']);
    expect(container.resources?.limits?.['memory']).toBeDefined();
  });

  it.each(Object.keys(FOLDERS))(
    '%s keeps no file in a volume that ends with its pod, and has room for uploads',
    (folder) => {
      const { pod, environment } = deploymentOf(all.get(folder)!);
      const { files } = loadConfig(environment(SECRETS));
      expect([files.isFolderDurable, files.s3]).toEqual([false, undefined]);
      const data = pod.volumes?.find(({ name }) => name === 'data');
      const [, gibibytes] = /^(\d+)Gi$/.exec(String(data?.emptyDir?.sizeLimit)) ?? [];
      expect(Number(gibibytes) * 1024 ** 3).toBeGreaterThan(MOST_UPLOADS * files.fileBytes);
    },
  );

  it.each(Object.keys(FOLDERS))('%s leads to its replicas, and to nobody else', (folder) => {
    const manifests = all.get(folder)!;
    const { spec, container } = deploymentOf(manifests);
    expect(spec.selector.matchLabels).toEqual(LABELS);
    expect(spec.template.metadata?.labels).toMatchObject(LABELS);
    expect(container.ports?.[0]?.name).toBe('http');
    const service = manifest<IService>(manifests, 'Service');
    expect(service.spec).toMatchObject({ selector: LABELS, ports: [{ name: 'http', targetPort: 'http' }] });
    const policy = manifest<INetworkPolicy>(manifests, 'NetworkPolicy').spec;
    expect(policy).toMatchObject({ podSelector: { matchLabels: LABELS }, policyTypes: ['Ingress', 'Egress'] });
    const open = policy?.egress?.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? [])) ?? [];
    expect(open.flatMap(({ except = [] }) => except)).toContain('169.254.0.0/16');
  });

  it.each(['base', 'overlays/production'])('%s is scaled and watched by metrics that there are', (folder) => {
    const manifests = all.get(folder)!;
    const { spec } = manifest<IHorizontalPodAutoscaler>(manifests, 'HorizontalPodAutoscaler');
    const names = spec?.metrics?.flatMap(({ pods }) => pods?.metric.name ?? []);
    expect(names).toEqual(['parley_executions']);
    expect(documentedMetrics()).toContainEqual({ name: 'parley_executions', type: 'gauge' });
    expect(spec?.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'parley' });
    expect(spec?.minReplicas).toBe(deploymentOf(manifests).spec.replicas);
    const monitor = manifest<IServiceMonitor>(manifests, 'ServiceMonitor').spec;
    expect(monitor).toMatchObject({
      selector: { matchLabels: LABELS },
      endpoints: [{ port: 'http', path: '/metrics' }],
    });
  });
});
