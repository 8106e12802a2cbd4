import type { JsonObject } from '#libs/protocol';
import { readableFrame } from './legacy-frames.js';

const read = (result: JsonObject): unknown => {
  const frame = readableFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
  return frame === undefined ? 'nothing' : (JSON.parse(frame) as { result: JsonObject }).result;
};

describe('readableFrame', () => {
  const status = { state: 'working' };

  it.each([
    ['task', { id: 't', contextId: 'c', status }],
    ['status-update', { taskId: 't', contextId: 'c', status, final: false }],
    ['artifact-update', { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } }],
    ['message', { messageId: 'm', role: 'agent', parts: [] }],
  ])('gives an item from before 0.3 its kind, which is %s', (kind, result) => {
    expect(read(result)).toEqual({ kind, ...result });
    expect(read({ kind, ...result })).toEqual({ kind, ...result });
  });

  it('leaves out a record separator before an item', () => {
    expect(readableFrame('\u001e{"jsonrpc":"2.0","id":1,"result":1}')).toBe('{"jsonrpc":"2.0","id":1,"result":1}');
  });

  it('leaves what nothing tells of as it is, and passes over another kind', () => {
    expect(read({ state: 'working' })).toEqual({ state: 'working' });
    expect(read({ kind: 'weather', id: 't', status })).toBe('nothing');
  });
});
