/** A problem of a definition: an `error`, or a `warningProblem` about something that its author may not intend. */
export interface WorkflowProblem {
  severity: 'error' | 'warning';
  /** Kind of the problem, for programs. */
  code: string;
  detail: string;
  /** Place, for example `nodes[2].id`. */
  path: string;
  /** Id of the node. */
  node?: string;
  /** Index of the edge in `edges`. */
  edge?: number;
  /** Beginning in the text at `path`, in UTF-16 code units. */
  offset?: number;
}

type ProblemPlace = Pick<WorkflowProblem, 'node' | 'edge' | 'offset'>;

/** Returns a problem because of which a definition is rejected. */
export function errorProblem(code: string, path: string, detail: string, place: ProblemPlace = {}): WorkflowProblem {
  return { severity: 'error', code, detail, path, ...place };
}

/** Returns a problem that is reported to the author and does not prevent a save. */
export function warningProblem(code: string, path: string, detail: string, place: ProblemPlace = {}): WorkflowProblem {
  return { severity: 'warning', code, detail, path, ...place };
}
