import { Writable } from 'node:stream';
import pino from 'pino';
import { loggerOptions } from './logging.js';

describe('loggerOptions', () => {
  it('keeps credentials out of the log', () => {
    let written = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk);
        done();
      },
    });
    const logger = pino(loggerOptions({ logLevel: 'info', serviceName: 'parley' }), sink);
    const headers = {
      authorization: 'secret',
      cookie: 'secret',
      'x-api-key': 'secret',
      'set-cookie': 'secret',
      accept: 'text/html',
    };
    logger.info({ req: { headers }, request: { headers }, headers }, 'asked');
    expect(written).not.toContain('secret');
    expect(JSON.parse(written)).toMatchObject({
      level: 'info',
      service: 'parley',
      req: { headers: { accept: 'text/html' } },
      msg: 'asked',
    });
  });
});
