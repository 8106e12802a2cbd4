import { SseParser } from './sse.js';

describe('SseParser', () => {
  it('reads events, wherever the pieces are cut', () => {
    const text = 'id: 1\nevent: a\ndata: {"x":1}\n\n: beat\n\ndata: two\ndata: lines\nid:2\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new SseParser();
      expect([...parser.take(text.slice(0, cut)), ...parser.take(text.slice(cut))]).toEqual([
        { id: '1', event: 'a', data: '{"x":1}' },
        { id: '2', event: '', data: 'two\nlines' },
      ]);
    }
  });

  it('keeps an event back until it is complete', () => {
    expect(new SseParser().take('id: 1\ndata: {}\n')).toEqual([]);
  });
});
