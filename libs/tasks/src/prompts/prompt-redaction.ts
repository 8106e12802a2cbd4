import { RE2JS } from 're2js';
import { isJsonObject, type JsonValue, textStart } from '#libs/protocol';

const REDACTED = '[redacted]';
/**
 * Replacement of the part of a text that was not searched for the operator's pattern, because the time limit was over.
 */
const NOT_SEARCHED = '[not searched]';
/** Minimum length of a secret that is redacted: a shorter text may be part of any word. */
const SHORTEST_SECRET = 4;
/**
 * Maximum number of UTF-16 code units of a text that are kept and searched; the rest is dropped. A longer text is too
 * large to be stored in any case.
 */
const LONGEST_TEXT = 512 * 1024;
/** Default of the maximum milliseconds that the pattern of the operator searches the texts of one value. */
const SEARCH_MS = 1_000;
/**
 * Maximum nesting depth of a value. A deeper part is replaced by `[too deep]`, since recursive code would overflow the
 * stack.
 */
const DEEPEST = 600;

/**
 * Forms of common credentials: private keys, keys of providers, tokens in headers and URLs. The search takes linear
 * time: no attempt to match a private key or signed token reads beyond the beginning of the next one.
 */
const CREDENTIALS =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,8192}?-----END [A-Z ]{0,30}PRIVATE KEY-----|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bAIza[0-9A-Za-z_-]{35}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\beyJ(?:\w|-(?!eyJ)){8,}\.eyJ(?:\w|-(?!eyJ)){8,}\.[\w-]{8,}|\b(?:Bearer|Basic) [A-Za-z0-9._~+/-]{16,}=*|(?<=:\/\/)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)/g;

/**
 * Replaces secrets by `[redacted]` in prompts that are stored or exported: known secrets, common credentials, and
 * matches of the operator's pattern.
 */
export class PromptRedaction {
  private readonly pattern: RE2JS | undefined;

  /**
   * @param pattern pattern of the operator (PROMPT_REDACT), in the syntax of RE2; absent: none
   * @param searchMs maximum milliseconds that the pattern searches one value
   */
  constructor(
    pattern?: string,
    private readonly searchMs = SEARCH_MS,
  ) {
    this.pattern = pattern === undefined ? undefined : RE2JS.compile(pattern);
  }

  /**
   * Returns a copy of a value with secrets redacted in its texts and in the names of its members.
   * @param secrets texts that are redacted wherever they occur
   */
  redactValue<T>(value: T, secrets: readonly string[]): T {
    // Texts of tools may contain JSON, in which some characters of a secret are escaped.
    const forms = secrets.flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret]);
    const known = [...new Set(forms)].filter((secret) => secret.length >= SHORTEST_SECRET);
    return new ValueRedaction(known, this.pattern, this.searchMs).redactMember(value as JsonValue, 0) as T;
  }
}

/** Redaction of one value in a stored model call. */
class ValueRedaction {
  /** @param left milliseconds that the operator's pattern may still search texts of this value */
  constructor(
    private readonly secrets: readonly string[],
    private readonly pattern: RE2JS | undefined,
    private left: number,
  ) {}

  redactMember(value: JsonValue | undefined, depth: number): JsonValue | undefined {
    if (typeof value === 'string') return this.redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) return '[too deep]';
    if (Array.isArray(value)) return value.map((item) => this.redactMember(item, depth + 1) as JsonValue);
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [
      this.redactText(name),
      this.redactMember(member, depth + 1),
    ]);
    return Object.fromEntries(members) as JsonValue;
  }

  private redactText(text: string): string {
    let redacted = textStart(text, LONGEST_TEXT);
    for (const secret of this.secrets) redacted = redacted.replaceAll(secret, REDACTED);
    redacted = redacted.replaceAll(CREDENTIALS, REDACTED);
    return this.pattern ? this.redactPattern(redacted, this.pattern) : redacted;
  }

  /**
   * Redacts the matches of a pattern. When the time limit is over, replaces the rest of the text by NOT_SEARCHED: a
   * search for many matches may take long, since RE2 may read the text to its end for each of them.
   */
  private redactPattern(text: string, pattern: RE2JS): string {
    const until = performance.now() + this.left;
    const matches = pattern.matcher(text);
    const pieces: string[] = [];
    let from = 0;
    let isInTime = this.left > 0;
    while (isInTime && matches.find()) {
      if (matches.end() > matches.start()) pieces.push(text.slice(from, matches.start()), REDACTED);
      from = matches.end();
      isInTime = performance.now() < until;
    }
    this.left = until - performance.now();
    return [...pieces, isInTime ? text.slice(from) : NOT_SEARCHED].join('');
  }
}
