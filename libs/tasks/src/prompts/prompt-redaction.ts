import { isJsonObject, type JsonValue, textStart } from '#libs/protocol';

const REDACTED = '[redacted]';
/** Minimum length of a secret that is redacted: a shorter text may be part of any word. */
const SHORTEST_SECRET = 4;
/** Maximum number of UTF-16 code units of a text that are searched. A longer text does not fit into what is kept. */
const LONGEST_TEXT = 512 * 1024;
/** Maximum depth of a value. Deeper values are replaced, since recursive code would overflow. */
const DEEPEST = 600;

/** Forms of common credentials: private keys, keys of providers, tokens in headers and URLs. */
const CREDENTIALS =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8192}?-----END [A-Z ]{0,30}PRIVATE KEY-----|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bAIza[0-9A-Za-z_-]{35}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}|\b(?:Bearer|Basic) [A-Za-z0-9._~+/-]{16,}=*|(?<=:\/\/)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)/g;

/** Replaces secrets in prompts to keep or export by `[redacted]`: known secrets, common credentials, and a pattern. */
export class PromptRedaction {
  /** @param pattern pattern of the operator (PROMPT_REDACT); absent: none */
  constructor(private readonly pattern?: RegExp) {}

  /**
   * Returns a copy of a value with secrets redacted in its texts and in the names of its members.
   * @param secrets texts that are redacted wherever they occur
   */
  redactValue<T>(value: T, secrets: readonly string[]): T {
    const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
    return this.redactMember(value as JsonValue, known, 0) as T;
  }

  private redactMember(value: JsonValue | undefined, secrets: readonly string[], depth: number): JsonValue | undefined {
    if (typeof value === 'string') return this.redactText(value, secrets);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) return '[too deep]';
    if (Array.isArray(value)) return value.map((item) => this.redactMember(item, secrets, depth + 1) as JsonValue);
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [
      this.redactText(name, secrets),
      this.redactMember(member, secrets, depth + 1),
    ]);
    return Object.fromEntries(members) as JsonValue;
  }

  private redactText(text: string, secrets: readonly string[]): string {
    let redacted = textStart(text, LONGEST_TEXT);
    for (const secret of secrets) redacted = redacted.replaceAll(secret, REDACTED);
    redacted = redacted.replaceAll(CREDENTIALS, REDACTED);
    return this.pattern ? redacted.replaceAll(this.pattern, REDACTED) : redacted;
  }
}
