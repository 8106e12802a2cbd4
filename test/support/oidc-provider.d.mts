/** OpenID Connect provider for tests (see oidc-provider.mjs). */
export const CLIENT_ID: string;
export const CLIENT_SECRET: string;

type Person = 'ann' | 'bob' | 'eve' | 'mallory' | 'nobody';

export interface OidcProvider {
  issuer: string;
  /** Person who signs in next; `refuses` is true if the person declines. */
  state: { person: Person; refuses: boolean };
  stop(): Promise<void>;
}

export const PEOPLE: Record<Person, object>;
export function startOidcProvider(publicUrl: string, port?: number): Promise<OidcProvider>;
