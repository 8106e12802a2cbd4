import { plainDetail, sortByPlace } from './problem-lines.js';

describe('plainDetail', () => {
  it.each([
    ['build DAG: edge references unknown node: c', 'there is no node "c"'],
    [
      'workflow "w": build DAG: edge references unknown node: drfat; did you mean "draft"?',
      'workflow "w": there is no node "drfat"; did you mean "draft"?',
    ],
    ['build DAG: duplicate node ID: a', 'another node has the id "a" as well'],
    [
      'build DAG: cycle detected in workflow graph (excluding back-edges)',
      'the edges form a circle; give the edge that leads back the member "loop"',
    ],
    ['build DAG: loop edge from "a" to "b": …', 'loop edge from "a" to "b": …'],
    ['agent node "a": …', 'agent node "a": …'],
  ])('says instead of %s: %s', (detail, plain) => {
    expect(plainDetail(detail)).toBe(plain);
  });
});

it('sortByPlace sorts by line within each file, and leaves the order of files', () => {
  const places = [
    { file: 'b', line: 6 },
    { file: 'a', line: 9 },
    { file: 'b', line: 3, column: 7 },
    {},
    { file: 'b', line: 3, column: 2 },
  ];
  expect(sortByPlace(places)).toEqual([
    {},
    { file: 'b', line: 3, column: 2 },
    { file: 'b', line: 3, column: 7 },
    { file: 'b', line: 6 },
    { file: 'a', line: 9 },
  ]);
});
