import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { OwnFileUrls } from './own-file-urls.js';
import { newFileId } from './stored-file.js';

const id = newFileId(new Date());
const INTERNAL = 'http://127.0.0.1:3000';
const service = { ownUrls: [INTERNAL], isOwnAddress: () => false };
const urlsWith = (config: object = {}): OwnFileUrls =>
  new OwnFileUrls(service as never, { host: '0.0.0.0', allowedHosts: [], ...config } as never);
const at = (base: string): string => `${base}/api/files/${id}`;

describe('OwnFileUrls', () => {
  it('knows a URL with a host that a caller was told one of, and with no other', () => {
    const urls = urlsWith();
    urls.noteBaseUrl('http://files.internal:3000');
    expect(urls.idOf(at('http://files.internal:3000'))).toBe(id);
    for (const other of ['http://files.internal', 'https://files.internal:3000', 'http://evil.example:3000'])
      expect(urls.idOf(at(other))).toBeUndefined();
  });

  it('knows hosts of ALLOWED_HOSTS, but none because of *, and no other port of loopback', () => {
    const urls = urlsWith({ allowedHosts: ['parley.internal', '*.apps.example', '*'] });
    for (const base of ['http://parley.internal:8080', 'https://a.apps.example', INTERNAL])
      expect(urls.idOf(at(base))).toBe(id);
    for (const base of ['http://evil.example', 'http://parley.internal.evil.example', 'http://127.0.0.1:9000'])
      expect(urls.idOf(at(base))).toBeUndefined();
  });

  it('knows no host from a request where PUBLIC_URL says it', () => {
    const urls = urlsWith({ publicUrl: 'https://parley.example', allowedHosts: ['parley.internal'] });
    urls.noteBaseUrl('http://evil.example');
    for (const base of ['http://evil.example', 'http://parley.internal']) expect(urls.idOf(at(base))).toBeUndefined();
  });

  it('forgets the first of many hosts', () => {
    const urls = urlsWith();
    for (let index = 0; index <= 64; index += 1) urls.noteBaseUrl(`http://h${index}`);
    expect([urls.idOf(at('http://h0')), urls.idOf(at('http://h64'))]).toEqual([undefined, id]);
  });

  it.each([
    [{}, 1],
    [{ publicUrl: 'https://parley.example' }, 0],
    [{ host: '127.0.0.1' }, 0],
  ])('warns at the start where agents elsewhere would be sent to loopback: %j', (config, times) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    urlsWith(config).onApplicationBootstrap();
    expect(warn).toHaveBeenCalledTimes(times);
    warn.mockRestore();
  });
});
