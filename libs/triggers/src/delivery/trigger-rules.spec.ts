import type { JsonObject } from '#libs/protocol';
import { CompiledRules, type RuleDecision, type TriggerRules } from './trigger-rules.js';

const EVENT = { body: { ref: 'main', commits: [{ id: 'a' }, { id: 'b' }] }, headers: { 'x-event': 'push' }, query: {} };

function decide(rules: TriggerRules, event: JsonObject = EVENT): RuleDecision {
  const compiled = CompiledRules.compileRules(rules, 'webhook');
  if (Array.isArray(compiled)) throw new Error(JSON.stringify(compiled));
  return compiled.decideEvent(event);
}

describe('The rules of a trigger', () => {
  it('fill in the inputs, each with the value of its expression', () => {
    const inputs = {
      ids: '${body.commits.map(c, c.id)}',
      text: 'on ${body.ref}: {{x}}',
      kind: "${headers['x-event']}",
    };
    expect(decide({ when: "body.ref == 'main'", inputs })).toEqual({
      inputs: { ids: ['a', 'b'], text: 'on main: {{x}}', kind: 'push' },
    });
  });

  it('start nothing if the condition is false', () => {
    expect(decide({ when: "body.ref == 'dev'", inputs: { a: '${body.missing}' } })).toHaveProperty('reason');
  });

  it.each([
    [{ inputs: { list: [{ name: '${body.missing}' }] } }, 'inputs.list[0].name'],
    [{ when: 'body.missing', inputs: {} }, 'when'],
    [{ when: 'body.ref', inputs: {} }, 'when'],
    [{ inputs: { all: '${body.large}' } }, 'inputs'],
  ])('name the member at fault: %j', (rules, path) => {
    const event = { body: { ref: 'main', large: 'x'.repeat(70_000) }, headers: {}, query: {} };
    expect(() => decide(rules, event)).toThrow(
      expect.objectContaining({ status: 422, errors: [expect.objectContaining({ path })] }),
    );
  });

  it('report each problem of their texts', () => {
    const rules = { when: 'run.id', inputs: { a: '${body.', b: 'fine', c: { d: '${1 +}' } } };
    const problems = CompiledRules.compileRules(rules, 'webhook');
    expect(problems).toMatchObject([{ path: 'when' }, { path: 'inputs.a' }, { path: 'inputs.c.d' }]);
  });

  it('stop an expression that takes too many steps', () => {
    const numbers = Array.from({ length: 2_000 }, (_, index) => index);
    const rules = { when: 'body.all(a, body.all(b, a != b || a == b))', inputs: {} };
    expect(() => decide(rules, { body: numbers, headers: {}, query: {} })).toThrow(/too many|more than/);
  });
});
