import { jest } from '@jest/globals';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ApiValidationPipe, ProblemFilter } from '#libs/http-server';
import type { ModelEvent } from '#libs/models';
import { Metrics, Shutdown } from '#libs/service';
import { GenerateController } from './generate.controller.js';
import { GenerationSlots } from './generation-limits.js';
import { CYCLE, generatorOver, GOOD } from './testing/generation-ground.js';
import { NoModels, type ScriptedAnswer, ScriptedModels } from './testing/scripted-models.js';
import { WorkflowGenerator } from './workflow-generator.js';

let app: NestFastifyApplication | undefined;

afterEach(async () => {
  jest.restoreAllMocks();
  await app?.close();
  app = undefined;
});

async function serve(models: ScriptedModels, shutdown = new AbortController()): Promise<string> {
  const module = await Test.createTestingModule({
    controllers: [GenerateController],
    providers: [
      Metrics,
      GenerationSlots,
      { provide: WorkflowGenerator, useValue: await generatorOver(models) },
      { provide: Shutdown, useValue: { started: shutdown.signal } },
      { provide: APP_PIPE, useClass: ApiValidationPipe },
      { provide: APP_FILTER, useFactory: () => new ProblemFilter() },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter({ forceCloseConnections: true }), {
    logger: false,
  });
  await app.listen(0, '127.0.0.1');
  return `${await app.getUrl()}/api/generate`;
}

function post(url: string, body: object, init: RequestInit & { accept?: string } = {}): Promise<Response> {
  const { accept = 'application/json', ...rest } = init;
  const headers = { 'content-type': 'application/json', accept };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...rest });
}

const answering = (...answers: ScriptedAnswer[]) => serve(new ScriptedModels(answers));
const description = 'Say it loudly.';

describe('POST /api/generate', () => {
  it('answers with the workflow, its problems and what it took as JSON', async () => {
    const response = await post(await answering(JSON.stringify(CYCLE), JSON.stringify(GOOD)), { description });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      workflow: GOOD,
      problems: [],
      attempts: 2,
      model: 'scripted',
      usage: { inputTokens: 200, outputTokens: 20 },
    });
  });

  it('answers with events where these are accepted; the last one has the JSON answer', async () => {
    const url = await answering(JSON.stringify(CYCLE), JSON.stringify(GOOD));
    const response = await post(url, { description }, { accept: 'text/event-stream' });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    const types = [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
    expect(types.filter((type) => type !== 'generate.progress')).toEqual([
      'generate.started',
      'generate.draft',
      'generate.repair',
      'generate.draft',
      'done',
    ]);
    const last = JSON.parse(text.slice(text.lastIndexOf('data: ') + 6)) as object;
    expect(last).toMatchObject({ workflow: GOOD, attempts: 2 });
  });

  it('ends a stream with an event `error` where the model answers without JSON', async () => {
    const response = await post(await answering('no'), { description }, { accept: 'text/event-stream' });
    const text = await response.text();
    expect(text).toContain('event: error\n');
    expect(text).toContain('"status":502');
    expect(text).not.toContain('event: done');
  });

  it.each([
    ['no description', {}, 400],
    ['a description that is no text', { description: 1 }, 400],
    ['a blank description', { description: ' \n' }, 422],
    ['a description that is too long', { description: 'x'.repeat(20_001) }, 413],
    ['a current definition that is no object', { description, current: [] }, 400],
    ['a name that no workflow can have', { description, name: 'a b' }, 400],
    ['an unknown member', { description, temperature: 1 }, 400],
    ['an unknown model', { description, model: 'unknown' }, 422],
  ])('refuses %s, naming the field, and calls no model', async (_, body, status) => {
    const models = new ScriptedModels([JSON.stringify(GOOD)]);
    const response = await post(await serve(models), body);
    expect(response.status).toBe(status);
    const { errors } = (await response.json()) as { errors: { path: string }[] };
    expect(errors[0]?.path).toMatch(/^(description|current|name|temperature|model)$/);
    expect(models.calls).toEqual([]);
  });

  it('says what is missing where there is no model', async () => {
    const response = await post(await serve(new NoModels()), { description }, { accept: 'text/event-stream' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      reason: 'NO_MODEL',
      detail: 'Set LLM_BASE_URL or add a model under /api/models.',
    });
  });

  it('ends a request that takes too long with 504, and one at a service that stops with 503', async () => {
    const timer = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(timer.signal);
    const shutdown = new AbortController();
    const ending = (stop: AbortController): ScriptedAnswer =>
      async function* ended({ signal }): AsyncIterable<ModelEvent> {
        yield { text: '{' };
        stop.abort();
        signal.throwIfAborted();
      };
    const url = await serve(new ScriptedModels([ending(timer), ending(shutdown)]), shutdown);
    const slow = await post(url, { description });
    expect([slow.status, await slow.json()]).toMatchObject([504, { reason: 'GENERATION_FAILED' }]);
    jest.restoreAllMocks();
    const response = await post(url, { description }, { accept: 'text/event-stream' });
    const text = await response.text();
    expect(text).toContain('event: error\n');
    expect(text).toContain('"status":503');
  });

  it('refuses a third request of a caller at a time with 429, and ends the call of a model whose reader has left', async () => {
    let closed = 0;
    async function* unending({ signal }: { signal: AbortSignal }): AsyncIterable<ModelEvent> {
      yield { text: '{' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      closed += 1;
      signal.throwIfAborted();
    }
    const url = await answering(unending, unending, JSON.stringify(GOOD));
    const stop = new AbortController();
    const held = await Promise.all(
      [1, 2].map(() => post(url, { description }, { accept: 'text/event-stream', signal: stop.signal })),
    );
    // Both streams have started.
    for (const response of held) await response.body?.getReader().read();
    const refused = await post(url, { description });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    stop.abort();
    for (let status = 429; status !== 200 || closed < 2;) {
      ({ status } = await post(url, { description }));
      expect([200, 429]).toContain(status);
    }
    expect(closed).toBe(2);
  });
});
