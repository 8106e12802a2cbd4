/** What a caller may do: call agents and see what came of it, change workflows, manage keys. */
export const PERMISSIONS = ['agents', 'workflows', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a caller's access hangs on, as long as something is open for it. */
export interface Proof {
  /** The digest of the key. */
  readonly key?: string;
  /** When the token ends; Unix milliseconds. */
  readonly endsAt?: number;
}

/** Who sent a request. What it makes belongs to the owner, within the tenant. */
export interface Caller {
  readonly tenant: string;
  readonly owner: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Absent where nothing can be withdrawn. */
  readonly proof?: Proof;
}

/** Everyone, while callers have no identity. */
export const ANONYMOUS: Caller = { tenant: '', owner: '', permissions: new Set(PERMISSIONS) };

export function isPermission(name: unknown): name is Permission {
  return PERMISSIONS.includes(name as Permission);
}
