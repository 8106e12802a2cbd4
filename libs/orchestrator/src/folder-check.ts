import type { NodeTypes } from '#libs/executor';
import { findBodyProblems } from './definition-check.js';
import { withRevisions } from './named-workflows.js';
import type { SavedWorkflows } from './saved-workflows.js';
import { readDefinition } from './sent-definition.js';
import type { WorkflowRevision } from './workflow.js';
import { warningProblem, type WorkflowProblem } from './workflow-problem.js';

/** Revision of the definitions that are sent. */
const SENT = 'sent';

/** Problems that only the service can decide, and what their warnings say. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  UNKNOWN_WORKFLOW: 'it is in none of the files, and only the service knows whether it is there',
  UNKNOWN_REVISION: 'only the service knows whether it has this revision',
};

/**
 * Checks definitions that are sent to a service together, without that service. For workflows that are not among them,
 * a warning says that they were not checked.
 * @returns the problems of each definition, in the given order
 */
export async function problemsTogether(sent: readonly unknown[], nodeTypes: NodeTypes): Promise<WorkflowProblem[][]> {
  const together = createSentWorkflows(sent);
  return Promise.all(
    sent.map(async (body) => (await findBodyProblems(body, together, nodeTypes)).map(warnIfUndecidable)),
  );
}

/** Returns the definitions as if they were saved, so that they can name each other. */
function createSentWorkflows(sent: readonly unknown[]): SavedWorkflows {
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

function warnIfUndecidable(problem: WorkflowProblem): WorkflowProblem {
  const { code, path, node } = problem;
  const why = ELSEWHERE[code];
  if (why === undefined) return problem;
  return warningProblem(code, path, `workflow node "${node}": ${why}`, node === undefined ? {} : { node });
}
