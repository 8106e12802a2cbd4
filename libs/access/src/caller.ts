/** What a caller may do: call agents and see what came of it, change workflows, manage keys. */
export const PERMISSIONS = ['agents', 'workflows', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Who sent a request. What it makes belongs to the owner, within the tenant. */
export interface Caller {
  readonly tenant: string;
  readonly owner: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** Everyone, while callers have no identity. */
export const ANONYMOUS: Caller = { tenant: '', owner: '', permissions: new Set(PERMISSIONS) };

export function isPermission(name: unknown): name is Permission {
  return PERMISSIONS.includes(name as Permission);
}
