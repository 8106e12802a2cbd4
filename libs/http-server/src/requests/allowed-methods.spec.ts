import fastify, { type FastifyInstance } from 'fastify';
import { toProblem } from '../problem.js';
import { refuseOtherMethods } from './allowed-methods.js';

let server: FastifyInstance;

beforeAll(async () => {
  server = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  refuseOtherMethods(server);
  server.setErrorHandler((error, _request, reply) => {
    const problem = toProblem(error);
    void reply.status(problem.status).send(problem);
  });
  const answer = (): object => ({});
  server.get('/api/runs', answer);
  server.get('/api/runs/:id', answer);
  server.delete('/api/runs/:id', answer);
  server.post('/api/runs/cancel', answer);
  server.post('/a2a/message:send', answer);
  server.get('/:page/*', answer);
  await server.ready();
});

afterAll(() => server.close());

describe('refuseOtherMethods', () => {
  it.each([
    ['PATCH', '/api/runs', 'GET, HEAD'],
    ['POST', '/api/runs/?x=1', 'GET, HEAD'],
    ['TRACE', '/api/runs/7', 'DELETE, GET, HEAD'],
    ['QUERY', '/api/runs/7', 'DELETE, GET, HEAD'],
    ['PUT', '/api/runs/cancel', 'POST'],
  ])('answers %s %s with 405 and the allowed methods', async (method, url, allow) => {
    const reply = await server.inject({ method: method as 'PATCH', url });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, allow]);
    expect(reply.json()).toMatchObject({ status: 405, reason: 'METHOD_NOT_ALLOWED' });
  });

  it.each([
    ['POST', '/api/nothing'],
    ['POST', '/api/runs/7/nothing'],
    ['POST', '/api/runs//'],
    ['PUT', '/a2a/message:send'],
    ['PUT', '/runs'],
  ])('leaves %s %s without a route at 404', async (method, url) => {
    const reply = await server.inject({ method: method as 'POST', url });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([404, undefined]);
  });

  it('leaves routes as they are', async () => {
    expect((await server.inject({ method: 'HEAD', url: '/api/runs' })).statusCode).toBe(200);
    expect((await server.inject({ method: 'DELETE', url: '/api/runs/7' })).statusCode).toBe(200);
  });
});
