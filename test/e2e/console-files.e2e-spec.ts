import { createHash } from 'node:crypto';
import { useSharedStage } from '../support/shared-stage.js';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the files of the console', () => {
  const stage = useSharedStage();
  const get = (path: string, accept = 'text/html') => fetch(`${stage.parley.url}${path}`, { headers: { accept } });

  it('row F10: GET / returns the console, and so does every deep link', async () => {
    for (const path of ['/', '/runs', '/runs/123/nodes/a.b', '/no-such-view']) {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(await response.text()).toContain('<div id="root">');
    }
  });

  it('row F10: shadows no address of the service', async () => {
    for (const path of [
      '/api/no',
      '/a2a/no',
      '/health/no',
      '/metrics/no',
      '/docs/no',
      '/.well-known/no',
      '/assets/no.js',
    ]) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).not.toContain('<div id="root">');
    }
    expect((await get('/events')).status).toBe(404);
    expect((await get('/docs')).status).toBe(200);
    expect((await get('/.well-known/agent-card.json')).headers.get('content-type')).toMatch('json');
  });

  it('asks for the page anew every time, and for what it loads never again', async () => {
    const page = await get('/');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const script = /src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1] ?? '';
    const asset = await get(script, '*/*');
    expect(asset.status).toBe(200);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-type')).toMatch('javascript');
  });

  it('sends what it loads compressed', async () => {
    const script = /src="(\/assets\/[^"]+)"/.exec(await (await get('/')).text())?.[1] ?? '';
    const sent = async (encoding: string) => {
      const response = await fetch(`${stage.parley.url}${script}`, { headers: { 'accept-encoding': encoding } });
      const { headers } = response;
      return {
        encoding: headers.get('content-encoding'),
        vary: headers.get('vary'),
        hash: hash(await response.text()),
      };
    };
    const plain = await sent('identity');
    expect(plain.encoding).toBeNull();
    for (const encoding of ['br', 'gzip']) {
      expect(await sent(encoding)).toEqual({ encoding, vary: plain.vary, hash: plain.hash });
    }
  });

  it('row G7: what is served is its production build', async () => {
    const script = /src="(\/assets\/[^"]+)"/.exec(await (await get('/')).text())?.[1] ?? '';
    expect(script).toMatch(/-[\w-]{8,}\.js$/);
    expect(await (await get(script, '*/*')).text()).not.toContain('jsxDEV');
  });

  it('takes what is named like a file for no page', async () => {
    expect((await get('/robots.txt', '*/*')).status).toBe(404);
  });
});
