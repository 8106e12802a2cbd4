import { nodePath, nodeUrl, pathAround, workflowPath } from './node-dispatch.js';

describe('where agents are', () => {
  it.each([
    ['outer', 'workflows/outer', 'workflows/outer/nodes/a'],
    ['outer.tr', 'workflows/outer/nodes/tr', 'workflows/outer/nodes/tr.a'],
    ['outer.tr.in', 'workflows/outer/nodes/tr.in', 'workflows/outer/nodes/tr.in.a'],
  ])('of %s at %s, its node at %s', (name, workflow, node) => {
    expect([workflowPath(name), nodePath(name, 'a')]).toEqual([workflow, node]);
    expect(pathAround(node)).toBe(workflow);
    expect(nodeUrl(name, { id: 'a', type: 'agent', config: {} }, 'http://own')).toBe(`http://own/a2a/${node}`);
  });

  it.each(['workflows/outer', 'conversations', '', 'workflows/a/nodes/b/more'])('%j is no node', (path) => {
    expect(pathAround(path)).toBeUndefined();
  });
});
