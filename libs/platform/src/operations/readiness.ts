import { Injectable } from '@nestjs/common';

export type ReadinessCheck = () => unknown;

const CHECK_TIMEOUT_MS = 2_000;

/** Whether a balancer should send requests here. */
@Injectable()
export class Readiness {
  private readonly checks = new Map<string, ReadinessCheck>();
  /** Set by Shutdown: new work is refused from now on. */
  draining = false;
  /** Set once the service listens. */
  started = false;

  /** The check fails by throwing, rejecting, returning `false`, or taking longer than two seconds. */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /** Each check's outcome; only names leave the process, never an error's text. */
  async outcomes(): Promise<Record<string, boolean>> {
    const entries = [...this.checks].map(async ([name, check]) => [name, await passes(check)] as const);
    return { ...Object.fromEntries(await Promise.all(entries)), accepting: !this.draining };
  }
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([Promise.resolve(check()).then((result) => result !== false), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
