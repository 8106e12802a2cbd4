import { eventColor } from './event-color.js';
import { formatEvent } from './format-event.js';

describe('row G6: formatEvent', () => {
  it('row G6: a message that is a text wins', () => {
    expect(formatEvent({ message: 'hello', node_id: 'a', error: 'x' })).toBe('hello');
    expect(formatEvent({ message: '' })).toBe('');
  });

  it('row G6: else its parts in their order, with a space between them', () => {
    const all = {
      output: 'o',
      result: 'r',
      error: 'e',
      status: 'completed',
      url: 'http://x',
      tool: 't',
      model: 'm',
      node_type: 'agent',
      node_id: 'a',
      message: { not: 'a text' },
    };
    expect(formatEvent(all)).toBe(
      '[a] (agent) model=m tool=t → http://x status=completed error: e result: r output: o',
    );
    expect(formatEvent({ node_id: 'a' })).toBe('[a]');
  });

  it('row G6: what is no text is JSON', () => {
    expect(formatEvent({ result: { n: [1, true] }, output: 0 })).toBe('result: {"n":[1,true]} output: 0');
  });

  it('row G6: nothing of all that is the whole as JSON', () => {
    expect(formatEvent({ other: 1, error: null })).toBe('{"other":1,"error":null}');
    expect(formatEvent({})).toBe('{}');
  });
});

describe('row G5: the colours of events', () => {
  it.each([
    ['node.started', 'text-node-agent'],
    ['node.completed', 'text-node-output'],
    ['node.error', 'text-destructive'],
    ['model.request', 'text-purple-500 dark:text-purple-400'],
    ['model.response', 'text-purple-400 dark:text-purple-300'],
    ['tool.call', 'text-node-tool'],
    ['tool.result', 'text-amber-600 dark:text-amber-300'],
    ['a2a.sending', 'text-blue-500 dark:text-blue-400'],
    ['a2a.received', 'text-blue-400 dark:text-blue-300'],
    ['workflow.failed', 'text-destructive font-semibold'],
    ['done', 'text-node-output font-semibold'],
    ['error', 'text-destructive'],
    ['info', 'text-muted-foreground'],
    ['node.canceled', 'text-muted-foreground'],
  ])('row G5: %s is %s', (type, classes) => expect(eventColor(type)).toBe(classes));
});
