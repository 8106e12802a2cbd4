import { isForeignPage } from './browser-guard.js';

const pages = {
  own: ['Localhost:3000', undefined, 'agents.example.com', '[::1]:3000'],
  listed: new Set(['https://app.example.com']),
};

describe('isForeignPage', () => {
  it.each([
    [{}],
    [{ 'sec-fetch-mode': 'cors' }],
    [{ origin: 'http://localhost:3000' }],
    [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }],
    [{ origin: 'https://agents.example.com' }],
    [{ origin: 'http://[::1]:3000' }],
    [{ 'sec-fetch-site': 'same-origin' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }],
  ])('lets %j in', (headers) => expect(isForeignPage(headers, pages)).toBe(false));

  it.each([
    [{ origin: 'null' }],
    [{ origin: '' }],
    [{ origin: 'http://localhost:3001' }],
    [{ origin: 'http://localhost' }],
    [{ origin: 'http://evil@localhost:3000' }],
    [{ origin: 'http://localhost:3000/' }],
    [{ origin: 'http://localhost:3000.evil.example' }],
    [{ origin: 'file://localhost:3000' }],
    [{ origin: 'https://app.example.com.evil.example' }],
    [{ origin: 'https://app.example.com, http://localhost:3000' }],
    [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'whatever' }],
  ])('does not let %j in', (headers) => expect(isForeignPage(headers, pages)).toBe(true));

  it('leaves the standard port out, as one side or the other may', () => {
    const own = (host: string) => ({ own: [host], listed: new Set<string>() });
    expect(isForeignPage({ origin: 'https://a.example' }, own('a.example:443'))).toBe(false);
    expect(isForeignPage({ origin: 'http://a.example' }, own('a.example:80'))).toBe(false);
    expect(isForeignPage({ origin: 'https://a.example' }, own('a.example:80'))).toBe(true);
  });

  it('lets every page in that says which it is, where all are listed', () => {
    const all = { own: [], listed: new Set(['*']) };
    expect(isForeignPage({ origin: 'https://any.example', 'sec-fetch-site': 'cross-site' }, all)).toBe(false);
    expect(isForeignPage({ 'sec-fetch-site': 'cross-site' }, all)).toBe(true);
  });
});
