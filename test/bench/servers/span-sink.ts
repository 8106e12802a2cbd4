// Takes every export of spans, and does nothing with it.
import { createServer } from 'node:http';
import { announce } from './serve.ts';

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
announce(server.listen(0, '127.0.0.1'));
