import { type Caller, isPermission, namesInClaims, type Permission } from '#libs/access';
import type { OidcConfig } from '#libs/service';

/** Role in CONSOLE_OIDC_ROLES that every person has. */
const EVERYONE = '*';

/** Claims about a person, from the ID token or from the provider's UserInfo endpoint. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** Reason why a person cannot sign in: the claims name no owner or tenant, or no role has a scope. */
export type ClaimProblem = 'no-name' | 'no-role';

/** True if the claims contain all that the sign-in reads, so that the UserInfo endpoint need not be called. */
export function areComplete(claims: PersonClaims, config: OidcConfig): boolean {
  return namesInClaims(claims, config) !== undefined && findClaim(claims, config.rolesClaim) !== undefined;
}

/** Returns the caller that the claims of a person name, with the scopes of the person's roles, or a ClaimProblem. */
export function callerOfPerson(claims: PersonClaims, config: OidcConfig): Caller | ClaimProblem {
  const named = namesInClaims(claims, config);
  if (!named) return 'no-name';
  const permissions = permissionsOf(findClaim(claims, config.rolesClaim), config);
  return permissions.size === 0 ? 'no-role' : { ...named, permissions };
}

function permissionsOf(claim: unknown, { roles }: OidcConfig): Set<Permission> {
  const given = typeof claim === 'string' ? claim.split(' ') : claim;
  const held: unknown[] = [EVERYONE, ...(Array.isArray(given) ? given.filter((role) => role !== EVERYONE) : [])];
  return new Set(
    held.flatMap((role) => (typeof role === 'string' ? (roles.get(role) ?? []) : [])).filter(isPermission),
  );
}

/** Finds a claim by its name, or else by its path between dots, such as `realm_access.roles`. */
function findClaim(claims: PersonClaims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, member) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, member);
    return isObject ? (value as PersonClaims)[member] : undefined;
  }, claims);
}
