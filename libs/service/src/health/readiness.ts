import { Injectable } from '@nestjs/common';

export type ReadinessCheck = () => unknown;

const CHECK_TIMEOUT_MS = 2_000;

/** Decides whether a load balancer should send requests to this replica. */
@Injectable()
export class Readiness {
  private readonly checks = new Map<string, ReadinessCheck>();
  private readonly remarks = new Map<string, () => string | undefined>();
  /** True once the shutdown has begun: new work is refused. */
  draining = false;
  /** True once the service listens. */
  started = false;

  /**
   * Adds a readiness check. A check fails if it throws, rejects, takes longer than two seconds, returns `false`, or
   * returns a public sentence that states the reason.
   */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /**
   * Adds a remark that does not affect readiness. Its public sentence is reported beside the outcomes of the checks.
   */
  addRemark(name: string, remark: () => string | undefined): void {
    this.remarks.set(name, remark);
  }

  /** Returns the current remarks by name; `undefined` if nothing is wrong. */
  collectRemarks(): [name: string, remark: string | undefined][] {
    return [...this.remarks].map(([name, remark]) => [name, remark()]);
  }

  /**
   * Runs the checks. Returns by name true, false, or the sentence that explains the failure. Error texts are not
   * exposed.
   */
  async runChecks(): Promise<Record<string, boolean | string>> {
    const entries = [...this.checks].map(async ([name, check]) => [name, await outcomeOf(check)] as const);
    return { ...Object.fromEntries(await Promise.all(entries)), accepting: !this.draining };
  }
}

async function outcomeOf(check: ReadinessCheck): Promise<boolean | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    const checked = Promise.resolve(check()).then((result) => (typeof result === 'string' ? result : result !== false));
    return await Promise.race([checked, late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
