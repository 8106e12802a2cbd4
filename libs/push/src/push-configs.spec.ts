import { pushConfigProblems } from './push-configs.js';

const OPEN = (): boolean => true;
const URL_FIELD = [expect.objectContaining({ field: 'url' })];

describe('the URL of a config', () => {
  it.each(['http://hook.test/', 'https://hook.test:8443/a?b=c#d', 'http://[2001:db8::1]/'])('may be %s', (url) => {
    expect(pushConfigProblems({ url }, OPEN)).toEqual([]);
  });

  it.each([
    '',
    'hook',
    '/hook',
    'ws://hook.test',
    'javascript:alert(1)',
    'http://u@hook.test/',
    'http://:p@hook.test/',
    'http://hook.test/\u0000',
    ' http://hook.test/',
    'http://hook.test/a\nb',
  ])('may not be %p', (url) => expect(pushConfigProblems({ url }, OPEN)).toEqual(URL_FIELD));

  it('may not be one that the outbound door refuses', () => {
    const permits = ({ hostname }: URL): boolean => hostname !== '10.0.0.1';
    expect(pushConfigProblems({ url: 'http://10.0.0.1/' }, permits)).toEqual(URL_FIELD);
    expect(pushConfigProblems({ url: 'http://167772161/' }, permits)).toEqual(URL_FIELD);
    expect(pushConfigProblems({ url: 'http://10.0.0.2/' }, permits)).toEqual([]);
  });
});

it('names every field at fault, and none of its secrets', () => {
  const config = {
    url: 'nowhere',
    token: 'line\nbreak',
    authentication: { scheme: 'a b', credentials: 'secret\u0000' },
  };
  const problems = pushConfigProblems(config, OPEN);
  expect(problems.map(({ field }) => field)).toEqual([
    'url',
    'token',
    'authentication.scheme',
    'authentication.credentials',
  ]);
  expect(JSON.stringify(problems)).not.toContain('secret');
});
