import { jest } from '@jest/globals';
import { Body, Controller, Get, Logger, NotFoundException, Post, ServiceUnavailableException } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { A2AError, invalidParams, TaskChangedHands } from '#libs/protocol';
import { malformedRequest, ProblemError, ProblemFilter } from './problem.js';

const SECRET = 'password=hunter2 at /srv/secret.ts';

const THROWN: Record<string, () => unknown> = {
  problem: () => new ProblemError(409, 'taken'),
  malformed: () => malformedRequest({ path: 'a', detail: 'must be b' }, { path: 'c', detail: 'must be d' }),
  a2a: () => invalidParams({ field: 'x', description: 'is wrong' }),
  ended: () => new A2AError('TASK_NOT_CANCELABLE', { message: 'It has ended' }),
  limited: () =>
    new A2AError('RATE_LIMITED', { message: 'Too many are under way', metadata: { retryAfterSeconds: '2' } }),
  draining: () => new A2AError('INTERNAL', { message: 'The service is shutting down', status: 503 }),
  input: () => new A2AError('INVALID_PARAMS', { message: 'inputs.x: is required', detailReason: 'MISSING_INPUT' }),
  away: () => Object.assign(new Error(SECRET), { code: '57P01', severity: 'FATAL' }),
  moved: () => new TaskChangedHands(SECRET),
  internal: () => new A2AError('INTERNAL', { cause: new Error(SECRET) }),
  error: () => new Error(SECRET),
  sql: () => Object.assign(new Error(SECRET), { code: '42P01', statusCode: 404 }),
  text: () => SECRET,
};

@Controller()
class ThrowingController {
  @Post('api/throw')
  throw(@Body() body: { what: string }): void {
    throw THROWN[body.what]?.();
  }
  @Get('elsewhere')
  elsewhere(): void {
    throw new ServiceUnavailableException({ status: 'error', details: {} });
  }
  @Get('api/nest')
  nest(): void {
    throw new NotFoundException();
  }
}

let app: NestFastifyApplication;
let logged: ReturnType<typeof jest.spyOn>;

beforeAll(async () => {
  const module = await Test.createTestingModule({
    controllers: [ThrowingController],
    providers: [{ provide: APP_FILTER, useFactory: () => new ProblemFilter(new Set(['MISSING_INPUT'])) }],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter({ bodyLimit: 1000 }), {
    logger: false,
  });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
});

beforeEach(() => {
  logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  logged.mockRestore();
});

afterAll(() => app.close());

async function send(payload: string, type = 'application/json') {
  const reply = await app.inject({ method: 'POST', url: '/api/throw?x=1', payload, headers: { 'content-type': type } });
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  return reply;
}

describe('ProblemFilter', () => {
  it.each([
    ['problem', 409, 'taken', 'CONFLICT'],
    ['malformed', 400, 'a: must be b; c: must be d', 'MALFORMED'],
    ['a2a', 400, 'x: is wrong', 'MALFORMED'],
    ['ended', 409, 'It has ended', 'TASK_NOT_CANCELABLE'],
    ['draining', 503, 'The service is shutting down', 'UNAVAILABLE'],
    ['input', 422, 'inputs.x: is required', 'MISSING_INPUT'],
    ['away', 503, 'The database is out of reach at the moment; try again later', 'DATABASE_UNAVAILABLE'],
    ['moved', 503, TaskChangedHands.ADVICE, 'TASK_CHANGED_HANDS'],
  ])('tells what a caller may see: %s', async (what, status, detail, reason) => {
    const reply = await send(JSON.stringify({ what }));
    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ type: 'about:blank', status, detail, reason, instance: '/api/throw' });
    expect(logged).not.toHaveBeenCalled();
  });

  it('says when to try again after a refusal', async () => {
    const replyTo = (what: string) => app.inject({ method: 'POST', url: '/api/throw', payload: { what } });
    expect((await replyTo('limited')).headers).toMatchObject({ 'retry-after': '2' });
    expect((await replyTo('ended')).headers).not.toHaveProperty('retry-after');
  });

  it('has one entry for each thing that is wrong', async () => {
    expect((await send('{"what":"malformed"}')).json()).toMatchObject({
      title: 'Bad Request',
      errors: [
        { path: 'a', detail: 'must be b' },
        { path: 'c', detail: 'must be d' },
      ],
    });
    expect((await send('{"what":"a2a"}')).json()).toMatchObject({ errors: [{ path: 'x', detail: 'is wrong' }] });
  });

  it.each(['internal', 'error', 'sql', 'text'])('tells nothing of our own faults, and logs them: %s', async (what) => {
    const reply = await send(JSON.stringify({ what }));
    expect(reply.json()).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'Internal error',
      reason: 'INTERNAL',
      instance: '/api/throw',
      requestId: expect.any(String),
    });
    expect(logged).toHaveBeenCalledTimes(1);
    expect(logged.mock.calls[0]?.[0]).toMatchObject({ requestId: reply.json<{ requestId: string }>().requestId });
  });

  it.each([
    ['a body that is no JSON', '{"a":', 'application/json', 400],

    ['a body that is too large', JSON.stringify({ a: 'x'.repeat(2000) }), 'application/json', 413],
    ['a body of another type', '<a/>', 'text/xml', 415],
  ])('answers %s', async (_what, payload, type, status) => {
    const reply = await send(payload, type);
    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ status, detail: expect.any(String) });
    expect(logged).not.toHaveBeenCalled();
  });

  it.each(['/api/nope', '/api', '/api/nest'])('answers 404 at %s', async (url) => {
    const reply = await app.inject({ url });
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(reply.json()).toMatchObject({ status: 404, title: 'Not Found', instance: url });
  });

  it('leaves errors outside of /api as they are', async () => {
    const reply = await app.inject({ url: '/elsewhere' });
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toEqual({ status: 'error', details: {} });
    expect((await app.inject({ url: '/apiary' })).headers['content-type']).toContain('application/json');
  });
});
