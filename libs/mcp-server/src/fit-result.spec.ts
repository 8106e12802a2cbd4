import type { Part, Task } from '#libs/protocol';
import { taskResult } from './mcp-tasks.js';

const URL = 'http://parley/a2a/tasks/t';
const MIB = 1024 * 1024;

function resultOf(...parts: Part[]) {
  const artifacts = [{ artifactId: 'i', name: 'out', parts }];
  const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts };
  const result = taskResult(task, URL);
  return { result, bytes: Buffer.byteLength(JSON.stringify(result)) };
}

const LINK = expect.objectContaining({ type: 'resource_link', uri: URL }) as object;
const ABOUT = { 'parley/taskId': 't', 'parley/contextId': 'c' };

describe('a result of more than a million bytes', () => {
  it('has its text once, where that suffices', () => {
    const text = 'x'.repeat(600_000);
    const { result, bytes } = resultOf({ text });
    expect(result).toEqual({ content: [{ type: 'text', text }], _meta: { ...ABOUT, 'parley/shortened': true } });
    expect(bytes).toBeLessThan(MIB);
  });

  it.each<[string, Part]>([
    ['a text', { text: 'x'.repeat(5 * MIB) }],
    ['a text that JSON escapes', { text: '\u0001'.repeat(MIB) }],
    ['data', { data: { rows: Array.from({ length: 100_000 }, () => 'a row of data') } }],
  ])('begins as the whole one and links to it: %s', (_, part) => {
    const { result, bytes } = resultOf(part);
    expect(bytes).toBeLessThan(MIB);
    expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/\[cut: /) as string }, LINK]);
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('keeps the blocks that fit, in their order', () => {
    const { result, bytes } = resultOf(
      { text: 'first' },
      { raw: 'A'.repeat(2 * MIB), mediaType: 'image/png' },
      { data: { n: 1 } },
    );
    expect(bytes).toBeLessThan(MIB);
    expect(result.content).toEqual([{ type: 'text', text: 'first' }, { type: 'text', text: '{"n":1}' }, LINK]);
  });

  it('is bounded with very many blocks, too', () => {
    const many = Array.from({ length: 30_000 }, (_, n): Part => ({ data: { n, text: 'a row of some words' } }));
    const { result, bytes } = resultOf(...many);
    expect(bytes).toBeLessThan(MIB);
    expect(result.content.at(-1)).toEqual(LINK);
  });
});

it('a smaller result is unchanged', () => {
  const text = 'x'.repeat(400_000);
  expect(resultOf({ text }).result).toMatchObject({ content: [{ text }], structuredContent: { out: text } });
});
