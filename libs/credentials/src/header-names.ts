/** `token` of RFC 9110, section 5.6.2: the form of the names of headers and cookies. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Headers that describe the call or its connection; credentials may not replace them. */
const TAKEN = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

export function isToken(name: string): boolean {
  return TOKEN.test(name);
}

/** True if a header of this name may contain a secret. */
export function mayCarrySecret(name: string): boolean {
  const key = name.toLowerCase();
  return isToken(name) && !TAKEN.has(key) && !key.startsWith('a2a-') && !key.startsWith('proxy-');
}
