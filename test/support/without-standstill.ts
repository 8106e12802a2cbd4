/**
 * Repeats `work` until this process did not stand still meanwhile, and returns its result. A busy machine may hold up a
 * process; afterwards it uses no connection again that it had before.
 */
export async function withoutStandstill<T>(watch: { countStandstills(): number }, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = watch.countStandstills();
    const result = await work();
    if (watch.countStandstills() === before) return result;
  }
}
