import type { SecretBox } from './secret-box.js';

/**
 * Payload of a job that reseals secrets: the key to use. While keys are replaced, replicas seal with different keys.
 */
export interface Sealing {
  /** Mark of the key. Absent in jobs of earlier versions: the executing replica uses its own key. */
  mark?: string;
}

export function sealingWith({ mark }: Pick<SecretBox, 'mark'>): { mark: string } {
  return { mark };
}

export function readSealing(payload: unknown): Sealing {
  const { mark } = (payload ?? {}) as Record<string, unknown>;
  return typeof mark === 'string' ? { mark } : {};
}

/**
 * Asserts that this replica seals with the job's key. @throws Error otherwise: the job is retried until a replica with
 * that key gets it
 */
export function expectKey({ mark }: Sealing, box: Pick<SecretBox, 'mark'>): void {
  if (mark !== undefined && mark !== box.mark) throw new Error('Another replica seals with the key that is meant');
}
