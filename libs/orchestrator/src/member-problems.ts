import { durationOf, InputSchema, InvalidInputSchema, LONGEST_DURATION, type SharedUse } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';
import { fault, type WorkflowProblem } from './workflow-problem.js';

/** The node, edge or definition whose members are checked. */
interface Owner {
  /** Example: `nodes[2]`; empty for the definition. */
  path: string;
  /** Beginning of each message, for example `agent node "a": `. */
  said: string;
  node?: string;
  edge?: number;
}

/** Collects problems of the members of a node, an edge or a definition. An absent member is valid. */
export class MemberProblems {
  readonly found: WorkflowProblem[] = [];

  constructor(private readonly owner: Owner) {}

  /** Checks a number against an inclusive range. */
  number(member: string, value: number | undefined, [least, most]: readonly [number, number]): this {
    const holds = value === undefined || (value >= least && value <= most);
    return this.unless(holds, 'OUT_OF_RANGE', member, `must be from ${least} to ${most}`);
  }

  /** Checks a whole number against an inclusive range. */
  wholeNumber(member: string, value: number | undefined, range: readonly [number, number]): this {
    if (value === undefined || Number.isInteger(value)) return this.number(member, value, range);
    return this.unless(false, 'OUT_OF_RANGE', member, `must be a whole number from ${range[0]} to ${range[1]}`);
  }

  /** Checks a duration that may be zero. */
  pause(member: string, value: string | undefined): this {
    return this.duration(member, value, 0);
  }

  /** Checks a duration that must be more than zero. */
  limit(member: string, value: string | undefined): this {
    return this.duration(member, value, 1);
  }

  /**
   * Checks a JSON Schema, and a value against it.
   * @param use limits that the schemas of the workflow share
   */
  schema(
    member: string,
    schema: JsonValue | undefined,
    use: SharedUse,
    value?: { member: string; value: JsonValue },
  ): this {
    if (schema === undefined) return this;
    try {
      const rules = InputSchema.of(schema, use);
      const [wrong] = value === undefined ? [] : rules.faults(value.value, use);
      return wrong === undefined || value === undefined
        ? this
        : this.add('INVALID_DEFAULT', `${value.member}${wrong.path}`, wrong.detail);
    } catch (error) {
      if (!(error instanceof InvalidInputSchema)) throw error;
      return this.add('INVALID_SCHEMA', member, error.message);
    }
  }

  /** Adds a problem unless the rule holds. */
  unless(holds: boolean, code: string, member: string, rule: string): this {
    return holds ? this : this.add(code, member, rule);
  }

  private duration(member: string, value: string | undefined, least: number): this {
    const milliseconds = value === undefined ? least : durationOf(value);
    const holds = milliseconds !== undefined && milliseconds >= least && milliseconds <= LONGEST_DURATION;
    const range = `${least > 0 ? 'more than nothing and ' : ''}a year at most`;
    return this.unless(holds, 'INVALID_DURATION', member, `must be a duration (500ms, 1.5s, 2m, 48h, 7d), ${range}`);
  }

  private add(code: string, member: string, rule: string): this {
    const { path, said, ...place } = this.owner;
    this.found.push(fault(code, path === '' ? member : `${path}.${member}`, `${said}${member} ${rule}`, place));
    return this;
  }
}
