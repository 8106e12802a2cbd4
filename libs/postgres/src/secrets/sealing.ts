import type { SecretBox } from './secret-box.js';

/** The payload of a job that seals anew: with which key. While keys are replaced, replicas seal with different ones. */
export interface Sealing {
  /** Absent in jobs of earlier versions: with that of whoever does it. */
  mark?: string;
}

export function sealingWith({ mark }: Pick<SecretBox, 'mark'>): { mark: string } {
  return { mark };
}

export function readSealing(payload: unknown): Sealing {
  const { mark } = (payload ?? {}) as Record<string, unknown>;
  return typeof mark === 'string' ? { mark } : {};
}

/** @throws where this replica seals with another key: the job is tried again, until one that has that key gets it */
export function expectKey({ mark }: Sealing, box: Pick<SecretBox, 'mark'>): void {
  if (mark !== undefined && mark !== box.mark) throw new Error('Another replica seals with the key that is meant');
}
