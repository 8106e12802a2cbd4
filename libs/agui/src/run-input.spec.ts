import type { JsonObject } from '#libs/protocol';
import { readRunInput } from './run-input.js';

const LEAST: JsonObject = { threadId: 't', runId: 'r' };

describe('the input of a run', () => {
  it('has an empty history without answers, if it has only its names', () => {
    const least = { ...LEAST, isEarly: true, messages: [], context: [], resume: [] };
    expect(readRunInput(LEAST)).toEqual(least);
    const nulls = {
      messages: null,
      tools: null,
      context: null,
      resume: null,
      protocolVersion: null,
      parentRunId: null,
    };
    expect(readRunInput({ ...LEAST, ...nulls, state: null, forwardedProps: null })).toEqual(least);
  });

  it('names each faulty member, and ignores members that it does not know', () => {
    const messages = [{ id: 7, role: 'user', content: [{ type: 'text' }, 'x'] }];
    const faulty = { ...LEAST, runId: '', protocolVersion: 1, messages, tools: [{ name: 'x' }], later: 1 };
    expect(() => readRunInput(faulty)).toThrow(
      expect.objectContaining({
        errors: [
          { path: 'runId', detail: expect.stringContaining('must be a string') },
          { path: 'messages[0].id', detail: 'must be a string' },
          { path: 'messages[0].content[0].text', detail: 'must be a string' },
          { path: 'messages[0].content[1]', detail: 'must be an object' },
          { path: 'tools[0].description', detail: 'is required' },
          { path: 'protocolVersion', detail: 'must be a string' },
        ],
      }),
    );
  });

  it.each([undefined, null, [], 'x'])('is no %j', (body) => {
    expect(() => readRunInput(body)).toThrow('must be a RunAgentInput');
  });

  it('names at most 20 faults, and takes at most 1,000 answers', () => {
    const resume = Array.from({ length: 30 }, () => ({}));
    const twenty = expect.arrayContaining([expect.objectContaining({ path: 'resume[9].status' })]);
    expect(() => readRunInput({ ...LEAST, resume })).toThrow(expect.objectContaining({ errors: twenty }));
    expect(() => readRunInput({ ...LEAST, resume })).not.toThrow(/resume\[10\]/);
    const answers = Array.from({ length: 1_001 }, () => ({ interruptId: 'x', status: 'cancelled' }));
    expect(() => readRunInput({ ...LEAST, resume: answers })).toThrow('resume: must have at most 1000 entries');
  });
});
