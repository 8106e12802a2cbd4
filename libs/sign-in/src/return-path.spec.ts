import fc from 'fast-check';
import { readReturnPath } from './return-path.js';

describe('readReturnPath', () => {
  it.each(['/', '/runs', '/runs/1?view=timeline#turn-3', '/workflows/edit/a%2Fb', '/runs?q=//evil.example'])(
    'returns to %s',
    (path) => expect(readReturnPath(path)).toBe(path),
  );

  it.each<[unknown]>([
    ['//evil.example/'],
    ['/\\evil.example/'],
    ['/\t/evil.example/'],
    ['/..//evil.example/'],
    ['/.//evil.example/'],
    ['https://evil.example/'],
    ['javascript:alert(1)'],
    ['evil.example'],
    ['/a\r\nset-cookie: x=y'],
    ['/auth/sign-in?return=/'],
    ['/auth'],
    [`/${'a'.repeat(1_000)}`],
    [`/${'語'.repeat(200)}`],
    [''],
    [undefined],
    [['/runs', '/runs']],
  ])('never returns to %j', (wanted) => expect(readReturnPath(wanted)).toBe('/'));

  it('returns to nothing but this service, whatever the text', () => {
    const parts = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':',
      '@',
      'evil.example',
      '?',
      '#',
      '%2F',
      '\t',
      '\n',
      'a',
      'http:',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (texts) => {
        const url = new URL(readReturnPath(texts.join('')), 'https://parley.example/auth/callback');
        expect(url.origin).toBe('https://parley.example');
      }),
    );
  });
});
