import { hasUserinfo, redactedUrl, withoutUserinfo } from './text.js';

describe('a URL that is shown', () => {
  it.each([
    ['http://agent:4001', 'http://agent:4001', 'http://agent:4001'],
    ['http://agent/a2a/?key=k#x', 'http://agent/a2a/?key=k#x', 'http://agent/a2a/'],
    ['http://agent/@me?a=b@c', 'http://agent/@me?a=b@c', 'http://agent/@me'],
    ['workflows/w', 'workflows/w', 'workflows/w'],
  ])('%s keeps where it leads', (url, reported, logged) => {
    expect([hasUserinfo(url), withoutUserinfo(url), redactedUrl(url)]).toEqual([false, reported, logged]);
  });

  it.each([
    ['http://user:pw@agent/a2a', 'http://agent/a2a'],
    ['http://user@agent/a2a', 'http://agent/a2a'],
    ['https://:pw@agent/', 'https://agent/'],
    ['http:user:pw@agent/', 'http://agent/'],
    ['HTTP:\\\\user:pw@agent/', 'http://agent/'],
    ['http://user:p%40w@agent:81/', 'http://agent:81/'],
    ['http://a:b@c:d@agent/', 'http://agent/'],
    ['http://user:pw@a b/', 'http://a b/'],
    ['ftp://user:pw@agent/', 'ftp://agent/'],
  ])('%s loses who calls', (url, shown) => {
    expect([hasUserinfo(url), withoutUserinfo(url), redactedUrl(`${url}?k=secret`)]).toEqual([true, shown, shown]);
  });
});
