import { isDeepStrictEqual } from 'node:util';
import { nodeContent } from '../node-message.js';
import { messageParts } from '../passed-content.js';
import { RunEvaluation } from '../run-evaluation.js';
import { expressionRun } from '../run-known.js';
import { RunState } from '../run-state.js';
import { RerunSelection } from './anew-instances.js';
import { parseInstance } from './instance-name.js';
import { OriginResults } from './origin-results.js';
import type { RerunOrigin } from './rerun-origins.js';
import type { RerunRequest } from './rerun-request.js';
import { type ComparedRun, ReusedResults } from './reused-results.js';

/** Folded run, and the evaluation of its expressions. */
interface FoldedRun {
  state: RunState;
  evaluation: RunEvaluation;
}

/** Returns the results that a rerun takes from its origin; `undefined` if it takes none. */
export function createReusedResults(
  request: RerunRequest,
  origin: RerunOrigin,
  now: FoldedRun,
): ReusedResults | undefined {
  if (request.all) return undefined;
  const { workflow, log } = origin;
  const results = new OriginResults(log);
  const names = [...(request.from ?? []), ...(request.failed ? results.failed : [])];
  const named = names.flatMap((name) => parseInstance(name) ?? []);
  const { graph } = now.state;
  const anew = new RerunSelection(
    graph,
    named.filter(({ id }) => graph.has(id)),
  );
  const state = RunState.fromEvents(workflow.definition, log);
  const isSame =
    isDeepStrictEqual(workflow.definition, now.state.definition) &&
    isDeepStrictEqual([state.inputs, state.text], [now.state.inputs, now.state.text]);
  const before = {
    state,
    evaluation: new RunEvaluation(state, expressionRun(request.origin, workflow, log[0]), now.evaluation.steps),
  };
  const compared = { before: createComparedRun(before), now: createComparedRun(now) };
  return new ReusedResults({ origin: request.origin, results, anew, run: now.state, ...(!isSame && { compared }) });
}

function createComparedRun({ state, evaluation }: FoldedRun): ComparedRun {
  return {
    graph: state.graph,
    findInstance: (id) => state.nodes.get(id),
    renderParts: (node) =>
      messageParts(nodeContent(node, state.graph, evaluation.messageSource(state.getNode(node.id)))),
  };
}
