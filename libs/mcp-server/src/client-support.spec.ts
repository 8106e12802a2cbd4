import { declaredSupport, sessionOf, sessionSupport } from './exchange.js';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

describe('what a client can do', () => {
  it.each([
    [undefined, { tasks: false }],
    [{}, { tasks: false }],
    [TASKS, { tasks: true }],
    [{ extensions: { 'io.modelcontextprotocol/tasks': true } }, { tasks: false }],
    [{ elicitation: {} }, { tasks: false, asks: 'result' }],
    [
      { ...TASKS, elicitation: { form: {} } },
      { tasks: true, asks: 'result' },
    ],
    [{ elicitation: { url: {} } }, { tasks: false }],
  ])('is declared with each request: %j', (capabilities, support) => {
    expect(declaredSupport(capabilities)).toEqual(support);
  });

  it('is told by the session of one that initializes, to any replica', () => {
    const session = sessionOf({ capabilities: { elicitation: {} } });
    expect(sessionSupport(session)).toEqual({ tasks: false, asks: 'request' });
    expect(sessionOf({ capabilities: { elicitation: {} } })).not.toBe(session);
    expect([sessionOf({ capabilities: { ...TASKS } }), sessionOf({})]).toEqual([undefined, undefined]);
    for (const none of [undefined, '', 'any']) expect(sessionSupport(none)).toEqual({ tasks: false });
  });
});
