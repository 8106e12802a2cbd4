/** Permissions of a caller: call agents and read their results, change workflows, manage keys. */
export const PERMISSIONS = ['agents', 'workflows', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Credential that a caller's access depends on while a stream is open. */
export interface Proof {
  /** Digest of the key. */
  readonly key?: string;
  /** Expiry of the token in Unix milliseconds. */
  readonly endsAt?: number;
}

/** Sender of a request. What it creates belongs to the owner, within the tenant. */
export interface Caller {
  readonly tenant: string;
  readonly owner: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Credential that may be withdrawn; absent if none can. */
  readonly proof?: Proof;
}

/** Caller of every request without authentication. */
export const ANONYMOUS: Caller = { tenant: '', owner: '', permissions: new Set(PERMISSIONS) };

export function isPermission(name: unknown): name is Permission {
  return PERMISSIONS.includes(name as Permission);
}
