import type { NodeSpec } from '#libs/agents';
import { dataPart, type JsonObject, type JsonValue, textPart } from '#libs/protocol';
import { SetNode } from './flow-nodes.js';
import { artifactParts, finalText, outline, played, turn } from './testing/turn.js';

const nodeOf = (values: JsonValue, language?: 2): NodeSpec => ({
  id: 's',
  type: 'set',
  config: { values },
  of: { workflow: 'w', revision: '1', ...(language && { language }) },
});

async function answer(values: JsonObject, parts: Parameters<typeof turn>[0], language?: 2) {
  const events = await played(new SetNode().createExecutor(nodeOf(values, language)), turn(parts));
  return { parts: artifactParts(events), said: finalText(events), outline: outline(events) };
}

describe('a set node', () => {
  it('answers its values as one data Part', async () => {
    expect(await answer({ n: 1, list: [true, null] }, 'anything')).toEqual({
      parts: [dataPart({ n: 1, list: [true, null] })],
      said: undefined,
      outline: ['working', 'artifact', 'completed'],
    });
  });

  it('puts the text of its Message in for {{text}}; ${} is nothing without language 2', async () => {
    const { parts } = await answer({ a: ['so: {{text}}', '${inputs.x}'] }, [textPart('hello'), dataPart({ x: 1 })]);
    expect(parts).toEqual([dataPart({ a: ['so: hello', '${inputs.x}'] })]);
  });

  it('with language 2 evaluates expressions over the data of its Message', async () => {
    const values = { sum: '${inputs.x + 1.0}', both: '{{text}} of ${inputs.x}' };
    const { parts } = await answer(values, [textPart('hello'), dataPart({ x: 1 })], 2);
    expect(parts).toEqual([dataPart({ sum: 2, both: 'hello of 1' })]);
  });

  it('says which of its texts has no value', async () => {
    const { parts, said } = await answer({ a: { b: '${nodes.draft.text}' } }, 'hello', 2);
    expect({ parts, said }).toEqual({ parts: undefined, said: 'Error: a.b: this has no value here' });
  });

  it('refuses to put together what would be too large', async () => {
    const executor = new SetNode(100).createExecutor(nodeOf({ a: '{{text}}{{text}}' }));
    expect(finalText(await played(executor, turn('x'.repeat(60))))).toContain('RENDERED_TEXT_LIMIT');
  });
});
