import type { RunDiff } from './run-api.js';

/** Returns what differs between two runs, such as `differs in revision 6 → 7, 2 nodes.` or `no difference.` */
export function differenceText({ differs, before, after, inputs, nodes }: RunDiff): string {
  if (differs.length === 0) return 'no difference.';
  const changedNodes = nodes.filter((node) => node.differs.length > 0).length;
  const words: Partial<Record<(typeof differs)[number], string>> = {
    revision: `revision ${before.revision ?? '?'} → ${after.revision ?? '?'}`,
    status: `status ${before.status} → ${after.status}`,
    inputs: `inputs (${inputs.map(({ path }) => path).join(', ')})`,
    nodes: `${changedNodes} ${changedNodes === 1 ? 'node' : 'nodes'}`,
  };
  return `differs in ${differs.map((part) => words[part] ?? part).join(', ')}.`;
}
