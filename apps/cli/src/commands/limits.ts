import type { Schemas } from '#libs/client';

/** Returns the cells of a limit in the list: its name, target and key, and its values. */
export function limitCells({ name, target, per, allTenants, concurrency, rate }: Schemas['LimitView']): string[] {
  const burst = rate?.burst ?? 1;
  const rateText = rate ? `${rate.count} in ${rate.period}${burst > 1 ? `, ${burst} at once` : ''}` : '';
  return [name, `${target}${allTenants ? ' of all tenants' : ''}`, per ?? '', String(concurrency ?? ''), rateText];
}
