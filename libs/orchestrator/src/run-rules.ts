import { MemberProblems } from './member-problems.js';
import { RANGES } from './ranges.js';
import type { WorkflowDefinition } from './workflow.js';
import type { WorkflowProblem } from './workflow-problem.js';

/** Returns the problems in a definition's rules for the whole run. */
export function runRuleProblems(definition: WorkflowDefinition): WorkflowProblem[] {
  const { language, deadline, parallel } = definition;
  return new MemberProblems({ path: '', said: '' })
    .checkThat(language === undefined || [1, 2].includes(language), 'UNKNOWN_LANGUAGE', 'language', 'must be 1 or 2')
    .checkLimit('deadline', deadline)
    .checkWholeNumber('parallel', parallel, RANGES.parallel).found;
}

/** Returns the problems of `onExit`: each node exists, is named once, has no edges, and is of a suitable type. */
export function exitProblems({ nodes, edges, onExit = [] }: WorkflowDefinition): WorkflowProblem[] {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const ends = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const seen = new Set<string>();
  return [...onExit.entries()].flatMap(([index, { node }]) => {
    const type = types.get(node) ?? '';
    const problems = new MemberProblems({ path: `onExit[${index}]`, said: `onExit "${node}": `, node })
      .checkThat(types.has(node), 'UNKNOWN_NODE', 'node', 'names no node')
      .checkThat(!ends.has(node), 'INVALID_EXIT', 'node', 'names a node that an edge leads to or from')
      .checkThat(!seen.has(node), 'INVALID_EXIT', 'node', 'names a node that it names already')
      .checkThat(!['input', 'output'].includes(type), 'INVALID_EXIT', 'node', `names a node of type ${type}`)
      .checkThat(type !== 'human', 'INVALID_EXIT', 'node', 'names a node that asks, when nobody is heard any more');
    seen.add(node);
    return problems.found;
  });
}
