import fastify from 'fastify';
import { ProblemError } from '../problem.js';
import { jsonBodyParser } from './request-bodies.js';

/** Parses a text with the parser of request bodies. */
function read(text: string): Promise<unknown> {
  const parse = jsonBodyParser(fastify(), 1_000);
  return new Promise((resolve, reject) => {
    parse({} as never, Buffer.from(text), (error, body) => (error ? reject(error) : resolve(body)));
  });
}

describe('a body with a member that JavaScript would take for a prototype', () => {
  it.each([
    ['{"__proto__":1}', '__proto__'],
    ['{"inputs":{"__proto__":{"a":1}}}', 'inputs.__proto__'],
    ['{"nodes":[{},{"config":{"constructor":{"prototype":{}}}}]}', 'nodes[1].config.constructor.prototype'],
  ])('%s is refused by its name', async (text, path) => {
    const error = await read(text).then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining(`${path}: must not be the name of a member`),
      errors: [{ path }],
    });
  });

  it('is not what is said of what is no JSON', async () => {
    await expect(read('{"__proto__":')).rejects.toMatchObject({ code: 'FST_ERR_CTP_INVALID_JSON_BODY' });
  });

  it('is taken where its name is harmless, or a text', async () => {
    expect(await read('{"constructor":"x","a":"__proto__"}')).toEqual({ constructor: 'x', a: '__proto__' });
  });

  it('is refused however deep it lies', async () => {
    const deep = `${'['.repeat(500)}{"__proto__":1}${']'.repeat(500)}`;
    await expect(read(deep)).rejects.toMatchObject({ statusCode: 400 });
  });
});
