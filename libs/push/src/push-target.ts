import { type FieldViolation, LONGEST_URL, type TaskPushNotificationConfig, TOO_LONG_URL } from '#libs/protocol';

const MAX_TOKEN = 1024;
const MAX_CREDENTIALS = 4096;
const MAX_SCHEME = 64;
/** Characters of a header value (RFC 9110, section 5.5). */
const VISIBLE_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0020\u007f]/;
/** `token` of RFC 9110, section 5.6.2: the form of an authentication scheme. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** True if the outbound client permits calls to the host of a URL, as far as that is known without a DNS lookup. */
export type PermitsUrl = (url: URL) => boolean;

/** Returns the problems of a config, one entry per field. */
export function pushConfigProblems(config: TaskPushNotificationConfig, permits: PermitsUrl): FieldViolation[] {
  const { url, token, authentication } = config;
  const problems = [
    ['url', urlProblem(url, permits)],
    ['token', token === undefined ? undefined : textProblem(token, MAX_TOKEN)],
    ['authentication.scheme', authentication && schemeProblem(authentication.scheme)],
    [
      'authentication.credentials',
      authentication?.credentials && textProblem(authentication.credentials, MAX_CREDENTIALS),
    ],
  ] as const;
  return problems.flatMap(([field, description]) => (description ? [{ field, description }] : []));
}

function urlProblem(text: string, permits: PermitsUrl): string | undefined {
  if (text.length > LONGEST_URL) return TOO_LONG_URL;
  // The URL parser drops control characters, but the stored and shown URL would keep them.
  if (CONTROLS.test(text) || !URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not carry credentials; use authentication';
  return permits(url) ? undefined : 'must not be an address that this service does not call';
}

function schemeProblem(scheme: string): string | undefined {
  if (scheme.length > MAX_SCHEME) return `must have at most ${MAX_SCHEME} characters`;
  return SCHEME.test(scheme) ? undefined : 'must be an HTTP authentication scheme';
}

function textProblem(text: string, limit: number): string | undefined {
  if (text.length > limit) return `must have at most ${limit} characters`;
  return VISIBLE_TEXT.test(text) ? undefined : 'must be visible ASCII characters';
}
