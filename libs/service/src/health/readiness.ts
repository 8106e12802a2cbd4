import { Injectable } from '@nestjs/common';

export type ReadinessCheck = () => unknown;

const CHECK_TIMEOUT_MS = 2_000;

/** Whether a balancer should send requests here. */
@Injectable()
export class Readiness {
  private readonly checks = new Map<string, ReadinessCheck>();
  private readonly remarks = new Map<string, () => string | undefined>();
  /** Set by Shutdown: new work is refused from now on. */
  draining = false;
  /** Set once the service listens. */
  started = false;

  /**
   * The check fails by throwing, rejecting, taking longer than two seconds, or returning `false` or a sentence that says
   * why, for whoever may ask.
   */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /** What keeps no request away: the sentence, for whoever may ask, stands beside the outcomes of the checks. */
  mention(name: string, remark: () => string | undefined): void {
    this.remarks.set(name, remark);
  }

  /** By name what `mention` was given to ask: what is not as it should be, or that nothing is amiss. */
  mentioned(): [name: string, remark: string | undefined][] {
    return [...this.remarks].map(([name, remark]) => [name, remark()]);
  }

  /** Each check's outcome: whether it passed, or the sentence that says why not. No error's text leaves the process. */
  async outcomes(): Promise<Record<string, boolean | string>> {
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
