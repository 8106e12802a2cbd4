import {
  dataPart,
  describedPart,
  firstText,
  joinedText,
  mergedTexts,
  type Part,
  PART_OF,
  partAsText,
  partKind,
  spokenParts,
  textPart,
  textRows,
} from './message.js';
import { artifactReference } from './template.js';

const BYTES = Buffer.alloc(300_000, 7).toString('base64');
const PNG: Part = { raw: BYTES, mediaType: 'image/png', filename: 'chart.png' };
const thought = (text: string): Part => ({ text, metadata: { adk_thought: true } });

describe('a Part that its reader does not take', () => {
  it('is described in one line without its bytes', () => {
    expect(describedPart(PNG)).toBe('[file chart.png, image/png, 300000 bytes]');
    expect(describedPart({ raw: '' })).toBe('[file, application/octet-stream, 0 bytes]');
    expect(describedPart({ url: 'https://a.test/x\ny', mediaType: 'text/csv' })).toBe(
      '[file, text/csv, https://a.test/x y]',
    );
    expect(describedPart({ url: `https://a.test/${'x'.repeat(9_000)}` }).length).toBeLessThan(300);
    expect([describedPart(textPart('words')), describedPart(dataPart([1]))]).toEqual([
      '[text, 5 characters]',
      '[data, 3 characters]',
    ]);
  });

  it('is JSON where it is data, and no piece of the text before it', () => {
    const text = partAsText(dataPart({ total: 42 }));
    expect(text.text).toBe('{"total":42}');
    expect(joinedText([textPart('sum'), text])).toBe('sum');
    expect(partAsText(textPart('as it is'))).toEqual(textPart('as it is'));
  });

  it('is named by its kind', () => {
    expect([textPart(''), dataPart(1), PNG, { url: 'u' }].map(partKind)).toEqual([
      'text',
      'data',
      'image/png',
      'application/octet-stream',
    ]);
  });
});

describe('the bytes of a file', () => {
  it('never stand in what a reference to its node stands for: their size does', () => {
    const text = artifactReference({ artifactId: 'a', parts: [PNG] }, []) ?? '';
    expect(JSON.parse(text)).toEqual({
      artifactId: 'a',
      parts: [{ size: 300_000, mediaType: 'image/png', filename: 'chart.png' }],
    });
  });
});

describe('what a model thought', () => {
  const parts = [thought('let me think'), textPart('the '), thought('hm'), textPart('answer')];

  it('is in no text', () => {
    expect([firstText(parts), joinedText(parts)]).toEqual(['the ', 'the answer']);
    expect(spokenParts(parts)).toEqual([textPart('the '), textPart('answer')]);
    expect(textRows(parts)).toEqual(['the answer']);
    expect(joinedText([thought('alone')])).toBeUndefined();
    expect(artifactReference({ artifactId: 'a', parts: [thought('alone')] }, [])).toBe('');
  });

  it('is one only where the mark says true', () => {
    const other: Part = { text: 'word', metadata: { adk_thought: 'no' } };
    expect(joinedText([other])).toBe('word');
  });
});

describe('texts of several Artifacts in one Message', () => {
  it('are not joined', () => {
    const parts = [textPart('one'), { ...textPart('two'), metadata: { [PART_OF]: 'n/b' } }];
    expect(joinedText(parts)).toBe('one');
    expect(textRows([...parts, dataPart(1), textPart('three')])).toEqual(['one', 'two', 'three']);
  });
});

describe('neighboring text Parts', () => {
  it('become one where their other members are equal', () => {
    const words = Array.from({ length: 20_000 }, (_, index) => textPart(`${index} `));
    expect(mergedTexts(words)).toEqual([textPart(words.map(({ text }) => text).join(''))]);
    const mixed: Part[] = [textPart('a'), textPart('b'), { text: 'c' }, dataPart(1), textPart('d'), thought('e')];
    expect(mergedTexts(mixed)).toEqual([textPart('ab'), { text: 'c' }, dataPart(1), textPart('d'), thought('e')]);
    expect(mergedTexts([])).toEqual([]);
  });
});
