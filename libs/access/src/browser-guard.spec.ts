import { Logger } from '@nestjs/common';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { ServiceAddress } from '#libs/http-server';
import { loadConfig } from '#libs/service';
import { BrowserGuard } from './browser-guard.js';

Logger.overrideLogger(false);

const OPEN = { PUBLIC_URL: 'https://agents.example.com/parley', CORS_ORIGINS: 'https://app.example.com' };
const address: Pick<ServiceAddress, 'forwardedHost'> = {
  forwardedHost: ({ headers }) => headers['x-forwarded-host'] as string | undefined,
};

function guard(env: Record<string, string> = OPEN): BrowserGuard {
  return new BrowserGuard(loadConfig(env), address);
}

function request(headers: Record<string, string>, method = 'GET', url = '/api/runs'): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), {
    headers: { host: 'localhost:3000', ...headers },
    method,
    url,
  });
}

/** Returns the status with which a request for a route is refused; `undefined` if the request passes. */
function status(it: IncomingMessage, route: string | undefined = '/api/runs', by = guard()): number | undefined {
  const refused = by.findRefusal(it, route)?.status;
  // What is let through without a closer look would pass one.
  if (by.clearsRequest(it)) expect(refused).toBeUndefined();
  return refused;
}

describe('BrowserGuard', () => {
  it('lets what is no browser through without a closer look', () => {
    expect(guard().clearsRequest(request({}, 'POST'))).toBe(true);
    expect(guard().clearsRequest(request({ 'sec-fetch-mode': 'cors', 'user-agent': 'node' }, 'POST'))).toBe(true);
    const looked: Record<string, string>[] = [
      { origin: 'http://localhost:3000' },
      { 'sec-fetch-site': 'none' },
      { host: 'evil.example' },
    ];
    for (const headers of looked) expect(guard().clearsRequest(request(headers))).toBe(false);
  });

  it.each([
    ['of its own host', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }],
    ['of PUBLIC_URL, behind a proxy that changes Host', { origin: 'https://agents.example.com' }],
    ['of CORS_ORIGINS', { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }],
    [
      'of the host that a proxy tells',
      { 'x-forwarded-host': 'agents.example.com:8443', origin: 'https://agents.example.com:8443' },
    ],
  ])('a page %s may call', (_what, headers) => {
    expect(status(request(headers as Record<string, string>, 'POST'))).toBeUndefined();
  });

  it.each([[{ origin: 'https://evil.example' }], [{ origin: 'null' }], [{ 'sec-fetch-site': 'same-site' }]])(
    'a page with %j may see what is public and nothing else',
    (headers) => {
      const sent = headers as Record<string, string>;
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) expect(status(request(sent, method))).toBe(403);
      for (const route of ['/events', '/a2a', '/api/agent-card', undefined]) {
        expect(guard().findRefusal(request(sent), route)?.status).toBe(403);
      }
      for (const route of ['/', '/docs', '/metrics', '/a2a/workflows/:workflow/.well-known/agent-card.json']) {
        expect(status(request(sent), route)).toBeUndefined();
        expect(status(request(sent, 'POST'), route)).toBe(403);
      }
    },
  );

  it('a host that is not ours gets nothing but health', () => {
    const evil = request({ host: 'evil.example', origin: 'http://evil.example' });
    for (const route of ['/api/runs', '/', '/metrics', '/events', undefined]) {
      expect(guard().findRefusal(evil, route)?.status).toBe(421);
    }
    expect(status(evil, '/health/ready')).toBeUndefined();
  });

  it('a target in absolute form, and the host that a proxy tells, must be ours as well', () => {
    expect(status(request({}, 'GET', 'http://evil.example/api/runs'))).toBe(421);
    expect(status(request({}, 'GET', 'http://localhost:3000/api/runs'))).toBeUndefined();
    expect(status(request({ host: 'evil.example' }, 'GET', 'http://localhost/api/runs'))).toBe(421);
    expect(status(request({ 'x-forwarded-host': 'evil.example' }))).toBe(421);
    expect(status(request({ 'x-forwarded-host': 'front.example' }), '/.well-known/agent-card.json')).toBeUndefined();
  });

  it('with authentication serves every host, unless some are listed', () => {
    const auth = { AUTH_MODE: 'api-key' };
    const it = request({ host: 'some.example' });
    expect(status(it, '/api/runs', guard(auth))).toBeUndefined();
    expect(status(it, '/api/runs', guard({ ...auth, ALLOWED_HOSTS: 'other.example' }))).toBe(421);
    expect(status(it, '/api/runs', guard({ ...auth, ALLOWED_HOSTS: 'some.example' }))).toBeUndefined();
    expect(status(it, '/api/runs', guard({ ALLOWED_HOSTS: '*' }))).toBeUndefined();
  });
});
