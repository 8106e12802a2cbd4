import fc from 'fast-check';
import { formatSseFrame } from './sse-stream.js';

describe('formatSseFrame', () => {
  it('writes the fields that are there', () => {
    expect(formatSseFrame({ data: '{}' })).toBe('data: {}\n\n');
    expect(formatSseFrame({ id: 7, event: 'done', data: 'x' })).toBe('id: 7\nevent: done\ndata: x\n\n');
  });

  it('gives a reader back what was sent, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { minLength: 1 }), (id, lines) => {
        const data = lines.join('\n').replace(/\r\n?/g, '\n');
        const frame = formatSseFrame({ id, event: `${id}\ndata: forged`, data });
        const fields = frame
          .slice(0, -2)
          .split('\n')
          .map((line) => line.split(/: (.*)/s));
        expect(frame.endsWith('\n\n')).toBe(true);
        expect(
          fields
            .filter(([name]) => name === 'data')
            .map(([, value]) => value)
            .join('\n'),
        ).toBe(data);
        expect(fields.filter(([name]) => name === 'id')).toHaveLength(1);
        expect(fields.filter(([name]) => name === 'event')).toHaveLength(1);
      }),
    );
  });
});
