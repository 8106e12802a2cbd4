const MOST_KEPT = 1_000;

/** One thing for each tenant, made when it is first asked for; the longest unused one goes first. */
export class ByTenant<T> {
  private readonly kept = new Map<string, T>();

  constructor(private readonly make: (tenant: string) => T) {}

  of(tenant: string): T {
    const value = this.kept.get(tenant) ?? this.make(tenant);
    this.kept.delete(tenant);
    this.kept.set(tenant, value);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    return value;
  }
}
