/** One thing that is wrong with a definition (`error`), or that may not be what its author meant (`warning`). */
export interface WorkflowProblem {
  severity: 'error' | 'warning';
  /** What kind of thing, for programs. */
  code: string;
  detail: string;
  /** Where, for example `nodes[2].id`. */
  path: string;
  /** The id of the node that it is about. */
  node?: string;
  /** The place of the edge that it is about in `edges`. */
  edge?: number;
  /** Where in the text at `path` it begins, in UTF-16 code units. */
  offset?: number;
}

type Place = Pick<WorkflowProblem, 'node' | 'edge' | 'offset'>;

/** For what a definition is refused. */
export function fault(code: string, path: string, detail: string, place: Place = {}): WorkflowProblem {
  return { severity: 'error', code, detail, path, ...place };
}

/** What its author is told of, and may leave as it is. */
export function warning(code: string, path: string, detail: string, place: Place = {}): WorkflowProblem {
  return { severity: 'warning', code, detail, path, ...place };
}
