import fc from 'fast-check';
import { dataPart, textPart } from './message.js';
import type { Artifact } from './task.js';
import { artifactReference, isRenderingOf, renderTemplate, TextBudget } from './template.js';

const artifact = (...parts: Artifact['parts']): Artifact => ({ artifactId: 'a1', parts });

describe('renderTemplate', () => {
  const values: Record<string, string> = { input: 'hello', output: 'bye', 'n.data': '{"k":1}' };
  const render = (text: string) => renderTemplate(text, (id, suffix) => values[[id, ...suffix].join('.')]);

  test('replaces every reference of a text (D5)', () => {
    expect(render('{{input}} then {{output}}')).toBe('hello then bye');
    expect(render('Data: {{n.data}}')).toBe('Data: {"k":1}');
    expect(render('nothing to do')).toBe('nothing to do');
  });

  test.each(['{{ input }}', '{{input-x}}', '{{missing}}', '{{input.}}', '{{.input}}', '{input}', '{{}}'])(
    'leaves %s verbatim (D1, D4)',
    (text) => expect(render(text)).toBe(text),
  );

  test('keeps replacement patterns of String.replace literal', () => {
    expect(renderTemplate('[{{a}}]', () => "$& $1 $' $$")).toBe("[$& $1 $' $$]");
  });

  test('never reads a substituted text again (D9)', () => {
    fc.assert(
      fc.property(fc.string(), (around) => {
        fc.pre(!around.includes('{') && !around.includes('}'));
        const rendered = renderTemplate(`${around}{{a}}${around}`, (id) => (id === 'a' ? '{{secret}}' : 'leaked'));
        expect(rendered).toBe(`${around}{{secret}}${around}`);
      }),
    );
  });
});

describe('a budget of characters', () => {
  const long = 'x'.repeat(100);

  test('is for the result, not for the template', () => {
    const budget = new TextBudget(11);
    expect(renderTemplate('{{a}}{{a}}-', () => 'short', budget)).toBe('shortshort-');
    expect(budget.spent).toBe(11);
    expect(() => renderTemplate('-', () => 'short', budget)).toThrow(
      'the rendered text has more than 11 characters (RENDERED_TEXT_LIMIT)',
    );
  });

  test('stops as soon as it is used up', () => {
    let resolved = 0;
    const resolve = () => {
      resolved += 1;
      return long;
    };
    expect(() => renderTemplate('{{a}}'.repeat(1_000), resolve, new TextBudget(6_000))).toThrow('RENDERED_TEXT_LIMIT');
    expect(resolved).toBeLessThan(30);
  });

  test('leaves what is not resolved as it counts it', () => {
    expect(renderTemplate('{{a}}', () => undefined, new TextBudget(5))).toBe('{{a}}');
    expect(() => renderTemplate('{{a}}', () => undefined, new TextBudget(4))).toThrow('RENDERED_TEXT_LIMIT');
  });
});

describe('artifactReference', () => {
  test('is the first text, wherever it stands among the Parts (B2, D2)', () => {
    expect(artifactReference(artifact(dataPart({ n: 1 }), textPart('words')), [])).toBe('words');
  });

  test('is the data as compact JSON where there is no text (D2)', () => {
    expect(artifactReference(artifact(dataPart({ n: [1, 2] })), [])).toBe('{"n":[1,2]}');
    expect(artifactReference(artifact(textPart(''), dataPart(7)), [])).toBe('7');
    expect(artifactReference(artifact(dataPart(null)), [])).toBe('null');
  });

  test('is the Artifact itself where there is neither (D2)', () => {
    const file = artifact({ url: 'https://example.com/f' });
    expect(artifactReference(file, [])).toBe(JSON.stringify(file));
  });

  test('is empty where the only text is', () => {
    expect(artifactReference(artifact(textPart('')), [])).toBe('');
  });

  test('with .data is the data, else nothing (D3)', () => {
    expect(artifactReference(artifact(textPart('t'), dataPart({ key: 'val' })), ['data'])).toBe('{"key":"val"}');
    expect(artifactReference(artifact(textPart('t')), ['data'])).toBeUndefined();
  });

  test('ignores any other suffix (D6) and has nothing for no Artifact (D4)', () => {
    expect(artifactReference(artifact(textPart('t')), ['foo', 'bar'])).toBe('t');
    expect(artifactReference(artifact(textPart('t'), dataPart(1)), ['data', 'x'])).toBe('t');
    expect(artifactReference(undefined, [])).toBeUndefined();
  });
});

describe('a rendering of a template', () => {
  it.each([
    ['plain', 'plain', true],
    ['plain', 'plain ', false],
    ['{{a}}', '', true],
    ['{{a}}', 'anything', true],
    ['x{{a}}y', 'xy', true],
    ['x{{a}}y', 'x', false],
    ['xx{{a}}xx', 'xxx', false],
    ['x{{a}}y{{b.data}}z', 'x1y2z', true],
    ['x{{a}}y{{b}}z', 'x1z', false],
    ['x{{a}}y', 'x{{a}}y', true],
    ['{{ a }}', 'b', false],
  ])('%s may become %s: %s', (template, text, expected) => {
    expect(isRenderingOf(template, text)).toBe(expected);
  });
});
