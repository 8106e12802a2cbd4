import { PromptRedaction } from './prompt-redaction.js';

const redact = (text: string, secrets: string[] = [], pattern?: string): string =>
  new PromptRedaction(pattern, Infinity).redactValue(text, secrets);

describe('PromptRedaction', () => {
  it.each([
    ['a key of OpenAI', 'sk-proj-abcdefghijklmnop1234'],
    ['a key of Stripe', 'sk_live_abcdefghijklmnop1234'],
    ['a key of Google', `AIza${'b'.repeat(35)}`],
    ['a token of GitHub', `ghp_${'c'.repeat(36)}`],
    ['a key of AWS', 'AKIAABCDEFGHIJKLMNOP'],
    ['a token of Slack', 'xoxb-1234567890-abcdef'],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
    ['a header', 'Bearer abcdefghijklmnopqrstuvwxyz=='],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIB\nAAAA\n-----END RSA PRIVATE KEY-----'],
  ])('redacts %s', (_what, secret) => {
    expect(redact(`before ${secret} after`)).toBe('before [redacted] after');
  });

  it('redacts the user and the password of a URL, and nothing else of it', () => {
    expect(redact('see postgres://ann:hunter2@db.example.com/x')).toBe('see postgres://[redacted]@db.example.com/x');
  });

  it('leaves usual texts as they are', () => {
    const text = 'Use the skill sk-1, ask-me, https://example.com:8080/a@b, Basic training, and {"key":"value"}.';
    expect(redact(text)).toBe(text);
  });

  it('redacts known secrets in all texts and names of a value, but no short ones', () => {
    const value = { 'my-secret-1': ['a my-secret-1 b', { deep: 'my-secret-1' }], n: 1, none: null };
    expect(new PromptRedaction().redactValue(value, ['my-secret-1', 'a'])).toEqual({
      '[redacted]': ['a [redacted] b', { deep: '[redacted]' }],
      n: 1,
      none: null,
    });
  });

  it('redacts a known secret in a text that is JSON', () => {
    const secret = 'pass"wo\\rd';
    expect(redact(JSON.stringify({ key: secret }), [secret])).toBe('{"key":"[redacted]"}');
  });

  it('redacts what the pattern of the operator matches', () => {
    expect(redact('customer ACME-123456 and ACME-1', [], 'ACME-\\d{6}')).toBe('customer [redacted] and ACME-1');
  });

  it('ends in time for texts that look like the beginnings of many secrets', () => {
    for (const piece of ['-----BEGIN PRIVATE KEY-----', '://a:', 'eyJaaaaaaaa.', 'eyJ-', 'Bearer ', 'sk-'])
      expect(redact(piece.repeat(200_000)).length).toBeGreaterThan(0);
  });

  it('redacts a signed token that follows the beginning of another one', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl';
    expect(redact(`eyJaaaaaaaaa-${token}`)).toBe('eyJaaaaaaaaa-[redacted]');
  });

  it('searches a long text for an address in linear time', () => {
    const text = 'a'.repeat(250_000);
    expect(redact(`${text} b@example.com 😀`, [], '[\\w.]+@example\\.com')).toBe(`${text} [redacted] 😀`);
  });

  it('leaves out what the pattern of the operator cannot search in time', () => {
    const value = ['a'.repeat(250_000), 'later'];
    const [first = '', second] = new PromptRedaction('a(.*b)?', 1).redactValue(value, []);
    expect([first.replaceAll('[redacted]', ''), second]).toEqual(['[not searched]', '[not searched]']);
  });

  it('replaces what is nested too deeply to search', () => {
    let deep: unknown = 'end';
    for (let depth = 0; depth < 5_000; depth += 1) deep = [deep];
    expect(JSON.stringify(new PromptRedaction().redactValue(deep, []))).toContain('[too deep]');
  });
});
