import { InputSchema, InvalidInputSchema, LONGEST_DURATION, parseDuration, type SharedUse } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';

/**
 * A problem of a definition: an `error`, which prevents a save, or a `warning` about something that the author may not
 * intend.
 */
export interface WorkflowProblem {
  severity: 'error' | 'warning';
  /** Machine-readable kind of the problem, for example `UNKNOWN_NODE`. */
  code: string;
  detail: string;
  /** Path of the member with the problem in the definition, for example `nodes[2].id`. */
  path: string;
  /** Id of the affected node; absent if the problem concerns no node. */
  node?: string;
  /** Index of the affected edge in `edges`; absent if the problem concerns no edge. */
  edge?: number;
  /**
   * Position in the text at `path` where the problem begins, in UTF-16 code units; absent if the problem concerns the
   * whole member.
   */
  offset?: number;
}

type ProblemPlace = Pick<WorkflowProblem, 'node' | 'edge' | 'offset'>;

/** Creates an error: a problem that prevents a save. @param place affected node or edge, and offset in the text */
export function errorProblem(code: string, path: string, detail: string, place: ProblemPlace = {}): WorkflowProblem {
  return { severity: 'error', code, detail, path, ...place };
}

/**
 * Creates a warning: a problem that is reported to the author and does not prevent a save.
 * @param place affected node or edge, and offset in the text
 */
export function warningProblem(code: string, path: string, detail: string, place: ProblemPlace = {}): WorkflowProblem {
  return { severity: 'warning', code, detail, path, ...place };
}

/** The node, edge or definition whose members are checked. */
interface ProblemOwner {
  /** Path in the definition, for example `nodes[2]`; empty for the definition itself. */
  path: string;
  /** Text at the beginning of each problem's `detail`, for example `agent node "a": `. */
  said: string;
  node?: string;
  edge?: number;
}

/**
 * Collects the problems of the members of a node, an edge or a definition. A member that is absent passes every check.
 */
export class MemberProblems {
  readonly found: WorkflowProblem[] = [];

  constructor(private readonly owner: ProblemOwner) {}

  /** Adds an error if a number is outside of an inclusive range. */
  checkNumber(member: string, value: number | undefined, [least, most]: readonly [number, number]): this {
    const holds = value === undefined || (value >= least && value <= most);
    return this.checkThat(holds, 'OUT_OF_RANGE', member, `must be from ${least} to ${most}`);
  }

  /** Adds an error if a number is not an integer, or is outside of an inclusive range. */
  checkWholeNumber(member: string, value: number | undefined, range: readonly [number, number]): this {
    if (value === undefined || Number.isInteger(value)) return this.checkNumber(member, value, range);
    return this.checkThat(false, 'OUT_OF_RANGE', member, `must be a whole number from ${range[0]} to ${range[1]}`);
  }

  /** Adds an error if a text is not a duration, such as `2m`, from zero to a year. */
  checkPause(member: string, value: string | undefined): this {
    return this.checkDuration(member, value, 0);
  }

  /** Adds an error if a text is not a duration, such as `2m`, that is more than zero and at most a year. */
  checkLimit(member: string, value: string | undefined): this {
    return this.checkDuration(member, value, 1);
  }

  /**
   * Adds an error if a JSON Schema is invalid, or if a value does not match it.
   * @param schema if absent, nothing is checked
   * @param use counts the schemas of the whole workflow against their common limits
   */
  checkSchema(
    member: string,
    schema: JsonValue | undefined,
    use: SharedUse,
    value?: { member: string; value: JsonValue },
  ): this {
    if (schema === undefined) return this;
    try {
      const rules = InputSchema.fromJson(schema, use);
      const [wrong] = value === undefined ? [] : rules.faults(value.value, use);
      return wrong === undefined || value === undefined
        ? this
        : this.addProblem('INVALID_DEFAULT', `${value.member}${wrong.path}`, wrong.detail);
    } catch (error) {
      if (!(error instanceof InvalidInputSchema)) throw error;
      return this.addProblem('INVALID_SCHEMA', member, error.message);
    }
  }

  /** Adds an error with the text `rule` if `holds` is false. */
  checkThat(holds: boolean, code: string, member: string, rule: string): this {
    return holds ? this : this.addProblem(code, member, rule);
  }

  private checkDuration(member: string, value: string | undefined, least: number): this {
    const milliseconds = value === undefined ? least : parseDuration(value);
    const holds = milliseconds !== undefined && milliseconds >= least && milliseconds <= LONGEST_DURATION;
    const range = `${least > 0 ? 'more than nothing and ' : ''}a year at most`;
    return this.checkThat(holds, 'INVALID_DURATION', member, `must be a duration (500ms, 1.5s, 2m, 48h, 7d), ${range}`);
  }

  private addProblem(code: string, member: string, rule: string): this {
    const { path, said, ...place } = this.owner;
    this.found.push(errorProblem(code, path === '' ? member : `${path}.${member}`, `${said}${member} ${rule}`, place));
    return this;
  }
}
