import type { StoredCredentialKind } from './settings-api.js';

export interface CredentialField {
  name: string;
  label: string;
  hint?: string;
  /** True if the input is masked and the stored value is never shown. */
  secret?: true;
  optional?: true;
  options?: readonly string[];
  /** True for a comma-separated list. */
  list?: true;
}

/** Fields of each kind of credential. */
export const FIELDS: Readonly<Record<StoredCredentialKind, readonly CredentialField[]>> = {
  'api-key': [
    { name: 'value', label: 'Key', secret: true },
    { name: 'in', label: 'Place', options: ['header', 'query', 'cookie'] },
    { name: 'parameter', label: 'Parameter', hint: 'Name of the parameter; X-API-Key by default.', optional: true },
  ],
  bearer: [{ name: 'token', label: 'Token', secret: true }],
  basic: [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', secret: true },
  ],
  'oauth2-client-credentials': [
    { name: 'tokenUrl', label: 'Token URL' },
    { name: 'clientId', label: 'Client id' },
    { name: 'clientSecret', label: 'Client secret', secret: true },
    { name: 'scopes', label: 'Scopes', hint: 'Separated by commas.', optional: true, list: true },
    { name: 'audience', label: 'Audience', optional: true },
    { name: 'clientAuthentication', label: 'Client authentication', options: ['basic', 'body'] },
  ],
};

/** Returns the credential that a form describes, as a request body. */
export function credentialBody(kind: StoredCredentialKind, fields: FormData): object {
  const shared: CredentialField[] = [
    { name: 'name', label: '' },
    { name: 'hosts', label: '', list: true },
  ];
  const given = [...shared, ...FIELDS[kind]].flatMap(({ name, list, secret }) => {
    const typed = fields.get(name);
    if (typeof typed !== 'string') return [];
    // A secret keeps the spaces that were typed.
    const text = secret ? typed : typed.trim();
    if (text === '') return [];
    return [[name, list ? text.split(',').flatMap((it) => (it.trim() === '' ? [] : [it.trim()])) : text]];
  });
  return { kind, ...Object.fromEntries(given) };
}
