import { setTimeout as delay } from 'node:timers/promises';
import { type Parley, startParley } from '../parley.js';
import { until } from '../until.js';
import type { RenderedDeployment } from './kustomize.js';
import { ServiceProxy } from './service-proxy.js';

/** Milliseconds for which clients may still send requests to an endpoint that was removed. */
const PROPAGATION_MS = 1_000;

type Probe = NonNullable<RenderedDeployment['container']['readinessProbe']>;

/**
 * Replicas of the built service as Kubernetes runs them: with the Deployment's environment, probes, preStop hook and
 * grace time, behind a Service.
 */
export class RolledDeployment {
  private readonly pods: Parley[] = [];
  /** Number of replicas that were killed because their grace time had passed. */
  killed = 0;

  private constructor(
    private readonly deployment: RenderedDeployment,
    private readonly environment: Readonly<Record<string, string>>,
    readonly service: ServiceProxy,
  ) {}

  /** @param overrides settings that differ on this machine, such as the port */
  static async start(
    deployment: RenderedDeployment,
    secrets: Readonly<Record<string, string>>,
    overrides: Readonly<Record<string, string>>,
  ): Promise<RolledDeployment> {
    const environment = { ...deployment.environment(secrets), ...overrides };
    const rolled = new RolledDeployment(deployment, environment, await ServiceProxy.start());
    await Promise.all(Array.from({ length: deployment.spec.replicas ?? 1 }, () => rolled.add()));
    return rolled;
  }

  get logs(): string {
    return this.pods.map((pod) => pod.logs()).join('\n');
  }

  /**
   * Replaces every replica: starts a new one, waits until it is and stays ready, then terminates an old one, and so on.
   * The next replica starts while the old one is still terminating, since Kubernetes does not count such pods.
   */
  async restart(): Promise<void> {
    const { minReadySeconds = 0 } = this.deployment.spec;
    const endings: Promise<void>[] = [];
    for (const old of [...this.pods]) {
      await this.add();
      await delay(minReadySeconds * 1000);
      endings.push(this.end(old));
    }
    await Promise.all(endings);
  }

  async stop(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.stop()));
    await this.service.stop();
  }

  private async add(): Promise<void> {
    const pod = await startParley({ env: { ...this.environment } });
    const { startupProbe, readinessProbe } = this.deployment.container;
    await this.passes(pod, startupProbe);
    await this.passes(pod, readinessProbe);
    this.pods.push(pod);
    this.serve();
  }

  /**
   * Terminates a replica as the kubelet does: preStop hook, SIGTERM, and SIGKILL when the grace time has passed, which
   * begins before preStop.
   */
  private async end(pod: Parley): Promise<void> {
    const { pod: spec, container } = this.deployment;
    const over = new AbortController();
    const grace = (spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const kill = delay(grace, undefined, { signal: over.signal }).then(
      () => {
        this.killed += 1;
        return pod.kill9();
      },
      () => undefined,
    );
    this.pods.splice(this.pods.indexOf(pod), 1);
    const known = delay(PROPAGATION_MS).then(() => this.serve());
    await delay((container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000);
    await pod.stop();
    over.abort();
    await Promise.all([kill, known]);
  }

  private serve(): void {
    this.service.serve(this.pods.map(({ url }) => url));
  }

  private async passes({ url }: Parley, probe: Probe | undefined): Promise<void> {
    const path = probe?.httpGet?.path ?? '/';
    const timeout = (probe?.timeoutSeconds ?? 1) * 1000;
    const ask = async (): Promise<boolean> => {
      const reply = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(timeout) }).catch(() => undefined);
      await reply?.body?.cancel();
      return reply?.ok === true;
    };
    await until(ask, { what: `${path} of ${url}` });
  }
}
