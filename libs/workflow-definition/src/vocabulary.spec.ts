import { compileExpression, InvalidExpression } from '#libs/expressions';
import { createVocabulary, type Surroundings } from './expression-places.js';

const IDS = new Set(['draft', 'my-draft', 'topic']);

/** Returns the error of an expression with its offset; `undefined` if it compiles. */
function problemOf(text: string, at: Surroundings = {}): string | undefined {
  const compiled = compileExpression(text, createVocabulary(IDS, at));
  return compiled instanceof InvalidExpression ? `${compiled.offset}: ${compiled.message}` : undefined;
}

describe('vocabularyOf', () => {
  it.each([
    "nodes.draft.data.decision == 'yes' && nodes['my-draft'].attempts > 1",
    'nodes.draft.loop.iterations',
    'inputs.topic + inputs.draft',
    "run.id + run.workflow + run.revision + run.contextId + string(run.startedAt + duration('1h'))",
  ])('%s may stand anywhere', (text) => {
    expect(problemOf(text)).toBeUndefined();
  });

  it.each<[string, keyof Surroundings]>([
    ['item.name + string(index)', 'item'],
    ['iteration > 1', 'iteration'],
    ["error.kind == 'timeout' && error.node == 'draft' && error.instance != error.message", 'error'],
    ["now + duration('1h')", 'now'],
  ])('%s may stand where there is one', (text, name) => {
    expect(problemOf(text, { [name]: true })).toBeUndefined();
    expect(problemOf(text)).toContain('there is no variable');
    expect(problemOf(text, { [name]: false })).toContain('there is no variable');
  });

  it.each([
    ['nodes.other.text', '6: nodes has no "other"'],
    ['nodes.draft.result', '12: nodes.draft has no "result"'],
    ['size(nodes) > 1', '5: "nodes" stands with a member alone'],
    ['inputs.other', '7: inputs has no "other"'],
    ['run.owner', '4: run has no "owner"'],
    ['trigger.body', '0: "trigger" is kept for a later version'],
    ['usage == null', '0: "usage" is kept for a later version'],
    ["usage['to' + 'kens']", '0: "usage" is kept for a later version'],
    ['[1].all(trigger, true)', '"trigger" is a variable'],
    ['nodes.draft.data.map(usage, 1)', '"usage" is a variable'],
  ])('%s is refused: %s', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  it('names what there is, and not what is kept for later versions', () => {
    const known = 'there are: inputs, nodes, run, item, index, iteration, error, now';
    const surroundings = { item: true, iteration: true, error: true, now: true };
    expect(problemOf('1 + zork', surroundings)).toBe(`4: there is no variable "zork" here; ${known}`);
  });
});
