import type { NodeTypes } from '#libs/executor';
import { WorkflowCheck } from './api/workflow-check.js';
import { withRevisions } from './named-workflows.js';
import type { SavedWorkflows } from './saved-workflows.js';
import { readDefinition } from './sent-definition.js';
import type { WorkflowRevision } from './workflow.js';
import { warning, type WorkflowProblem } from './workflow-problem.js';

/** The revision of what is sent. */
const SENT = 'sent';

/** What only the service knows that the definitions are for. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  UNKNOWN_WORKFLOW: 'it is in none of the files, and only the service knows whether it is there',
  UNKNOWN_REVISION: 'only the service knows whether it has this revision',
};

/**
 * What is wrong with each of several definitions that go to a service together, as far as that can be known without it:
 * of workflows that are none of them it is only said that they were not looked at.
 */
export async function problemsTogether(sent: readonly unknown[], nodeTypes: NodeTypes): Promise<WorkflowProblem[][]> {
  const check = new WorkflowCheck(nodeTypes);
  const together = workflowsOf(sent);
  return Promise.all(sent.map(async (body) => (await check.problems(body, together)).map(asFarAsKnown)));
}

/** Each as if it were saved already; what they name of each other is what is sent. */
function workflowsOf(sent: readonly unknown[]): SavedWorkflows {
  const now = new Date();
  const revisions = sent.flatMap((body): WorkflowRevision[] => {
    const read = readDefinition(body);
    if (Array.isArray(read)) return [];
    const definition = withRevisions(read, () => SENT);
    return [{ definition, revision: SENT, createdAt: now, updatedAt: now }];
  });
  const byName = new Map(revisions.map((it) => [it.definition.name, it]));
  return { get: async (name, revision = SENT) => (revision === SENT ? byName.get(name) : undefined) };
}

function asFarAsKnown(problem: WorkflowProblem): WorkflowProblem {
  const { code, path, node } = problem;
  const why = ELSEWHERE[code];
  if (why === undefined) return problem;
  return warning(code, path, `workflow node "${node}": ${why}`, node === undefined ? {} : { node });
}
