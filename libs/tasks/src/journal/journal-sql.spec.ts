import { createHash } from 'node:crypto';
import { type BatchShape, sectionsOf, SECTIONS } from './journal-sections.js';
import { batchText } from './journal-sql.js';

const KINDS = [
  'one',
  'continued',
  'keyed',
  'children',
  'jobs',
  'snapshots',
  'questions',
  'premises',
  'files',
  'relayed',
  'remotes',
  'prompts',
  'usage',
] as const;

/**
 * Returns the shapes of all possible batches: all sections except `premises` and `relayed` occur only with the section
 * of continued Tasks.
 */
function allShapes(): BatchShape[] {
  const shapes = Array.from({ length: 2 ** KINDS.length }, (_, bits) =>
    Object.fromEntries(KINDS.map((kind, index) => [kind, ((bits >> index) & 1) === 1])),
  ) as unknown as BatchShape[];
  const following = (shape: BatchShape) =>
    KINDS.slice(2).some((kind) => kind !== 'premises' && kind !== 'relayed' && shape[kind]);
  return shapes.filter((shape) => (shape.continued ? !shape.one : !following(shape)));
}

it('gives each parameter of a statement its own ordinal, without a gap', () => {
  for (const shape of allShapes()) {
    const used = new Set(Array.from(batchText(shape).matchAll(/\$(\d+)/g), ([, ordinal]) => Number(ordinal)));
    const columns = sectionsOf(shape).flatMap((section) => Object.keys(SECTIONS[section]));
    const ordinals = Array.from({ length: columns.length + 1 }, (_, index) => index + 1);
    expect([shape, [...used].sort((a, b) => a - b)]).toEqual([shape, ordinals]);
  }
});

it('keeps the texts of the statements', () => {
  const texts = allShapes().map(batchText);
  const hash = createHash('sha256').update(texts.join('\n')).digest('hex');
  // After an intended change of a statement, use the hash that this test reports.
  expect([texts.length, hash]).toEqual([2056, '915eb491d8093287d302d883a2c68ec8f457ce58dc5d6c47216c269bccfd754c']);
});

it('reads arrays without functions in FROM, which PostgreSQL would copy to tuple stores first', () => {
  const copying = allShapes().filter((shape) => /FROM\s+unnest\(/.test(batchText(shape)));
  expect(copying).toEqual([]);
});
