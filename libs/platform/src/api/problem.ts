import { STATUS_CODES } from 'node:http';

/** One thing that is wrong with a request. */
export interface ProblemEntry {
  /** The field at fault, for example `nodes[0].id`; `''` where it is the whole. */
  path: string;
  detail: string;
}

/** The body of an error of `/api` (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The path that was called. */
  instance?: string;
  /** One entry for each thing that is wrong. */
  errors?: ProblemEntry[];
}

/** A caller reads no more. */
const MOST_ENTRIES = 100;

/** An error of `/api` that its caller may see: text and entries are sent as they are, the first hundred of them. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly errors: readonly ProblemEntry[];

  constructor(
    readonly status: number,
    detail: string,
    errors: readonly ProblemEntry[] = [],
  ) {
    super(detail);
    this.errors = errors.slice(0, MOST_ENTRIES);
  }
}

/** A request whose body, query or header is not as documented: 400, naming each field. */
export function malformed(...errors: ProblemEntry[]): ProblemError {
  const told = errors.slice(0, MOST_ENTRIES);
  return new ProblemError(
    400,
    told.map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`)).join('; '),
    told,
  );
}

/** A Problem of the kind that its HTTP status says all about (`about:blank`, RFC 9457 section 4.2.1). */
export function problem(status: number, detail: string, errors: readonly ProblemEntry[] = []): Problem {
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: 'about:blank', title, status, detail, ...(errors.length > 0 && { errors: [...errors] }) };
}
