/** Kinds of content that a batch has. Each combination (shape) has one SQL statement, whose name lists the kinds. */
export interface BatchShape {
  /**
   * True for a batch that creates one Task with one log row. Its columns are passed as single values, since arrays are
   * expensive to set up.
   */
  one: boolean;
  continued: boolean;
  keyed: boolean;
  children: boolean;
  jobs: boolean;
  snapshots: boolean;
  questions: boolean;
  premises: boolean;
  files: boolean;
  relayed: boolean;
  remotes: boolean;
  prompts: boolean;
  usage: boolean;
}

/** PostgreSQL types of the columns, by the names of types that SECTIONS uses. */
const SQL_TYPES = { text: 'text', integer: 'int', boolean: 'boolean', timestamp: 'timestamptz', json: 'json' };

/**
 * Sections (groups) of the parameters of the statements, with the types of their columns, both in the order of the
 * parameters.
 */
export const SECTIONS = {
  log: { taskId: 'text', sequence: 'integer', events: 'text', artifact: 'boolean' },
  created: {
    taskId: 'text',
    contextId: 'text',
    tenant: 'text',
    owner: 'text',
    agent: 'text',
    parentTaskId: 'text',
    parentReference: 'text',
    replicaId: 'text',
    token: 'text',
    state: 'text',
    lastSequence: 'integer',
    createdAt: 'timestamp',
    updatedAt: 'timestamp',
    logBytes: 'integer',
    artifactBytes: 'integer',
    wakeAt: 'timestamp',
  },
  continued: {
    taskId: 'text',
    token: 'text',
    after: 'integer',
    lastSequence: 'integer',
    state: 'text',
    updatedAt: 'timestamp',
    settled: 'boolean',
    logBytes: 'integer',
    artifactBytes: 'integer',
    wakeAt: 'timestamp',
  },
  keyed: {
    taskId: 'text',
    tenant: 'text',
    owner: 'text',
    agent: 'text',
    key: 'text',
    fingerprint: 'text',
    sequence: 'integer',
  },
  /**
   * New child Tasks, their parents, and the holder of the parent's claim (right to write the parent): `holder` is the
   * token of the claim, or a replica's id.
   */
  children: { taskId: 'text', parentTaskId: 'text', holder: 'text' },
  jobs: {
    taskId: 'text',
    name: 'text',
    payload: 'json',
    key: 'text',
    runAt: 'timestamp',
    maxAttempts: 'integer',
    priority: 'integer',
    caller: 'text',
  },
  snapshots: { taskId: 'text', sequence: 'integer', task: 'json', artifacts: 'json' },
  questions: {
    taskId: 'text',
    key: 'text',
    tenant: 'text',
    owner: 'text',
    agent: 'text',
    assignee: 'text',
    since: 'timestamp',
    body: 'json',
  },
  /** Precondition (RevisionPrecondition) of the only new Task of a batch. */
  premise: { tenant: 'text', name: 'text', version: 'text' },
  /**
   * Preconditions (RevisionPrecondition) of new Tasks, each once; then for each Task the number of its precondition,
   * from 1.
   */
  premises: { tenant: 'text', name: 'text', version: 'text', taskId: 'text', position: 'integer' },
  /** Files that the events of Tasks use, each with the tenant and owner of the Task. */
  files: { taskId: 'text', fileId: 'text', tenant: 'text', owner: 'text' },
  /** First turns of the new Tasks of registered agents, whose work remote agents do. */
  relayed: {
    taskId: 'text',
    talkKey: 'text',
    contextKey: 'text',
    messageId: 'text',
    options: 'json',
    agentKey: 'text',
    execution: 'text',
  },
  /** Ids that remote agents have for Tasks. */
  remotes: { taskId: 'text', remoteTaskId: 'text', remoteContextId: 'text' },
  /** Recorded prompts: lines with what models were sent and have answered (see PromptLog). */
  prompts: { taskId: 'text', sequence: 'integer', body: 'text' },
  /** Calls of models that events report, one row each. The token columns are null if the tokens are unknown. */
  usage: {
    taskId: 'text',
    parentTaskId: 'text',
    tenant: 'text',
    owner: 'text',
    workflow: 'text',
    model: 'text',
    inputTokens: 'integer',
    outputTokens: 'integer',
    cachedTokens: 'integer',
    reasoningTokens: 'integer',
    cacheWriteTokens: 'integer',
    cost: 'text',
  },
} as const;

export type ColumnType = keyof typeof SQL_TYPES;
export type SectionName = keyof typeof SECTIONS;

/** Returns the names of the sections in the statement for a shape, in the order of the statement's parameters. */
export function sectionsOf(shape: BatchShape): SectionName[] {
  const present = { ...shape, log: true, created: true, premise: shape.one && shape.premises };
  const premises = shape.premises && !shape.one;
  return (Object.keys(SECTIONS) as SectionName[]).filter((name) => (name === 'premises' ? premises : present[name]));
}

/**
 * Numbers the parameters of a statement from `$1`: first the columns of its sections, then the position of the commit.
 */
export class StatementParameters {
  /** Placeholder, such as `$7`, of the commit's position in the commit log. */
  readonly position: string;
  private readonly ordinals = new Map<string, number>();
  /** Suffix of the parameter types: arrays, or nothing for single values. */
  private readonly suffix: '[]' | '';

  constructor(shape: BatchShape) {
    for (const section of sectionsOf(shape)) {
      for (const column in SECTIONS[section]) this.ordinals.set(`${section}.${column}`, this.ordinals.size + 1);
    }
    this.position = `$${this.ordinals.size + 1}`;
    this.suffix = shape.one ? '' : '[]';
  }

  /**
   * Returns the parameter of a column, such as `$5`.
   * @throws TypeError if the statement does not have the section
   */
  at<S extends SectionName>(section: S, column: keyof (typeof SECTIONS)[S] & string): string {
    const ordinal = this.ordinals.get(`${section}.${column}`);
    if (ordinal === undefined) throw new TypeError(`The statement has no parameter ${section}.${column}`);
    return `$${ordinal}`;
  }

  /** Returns the parameters of a section, or a slice of them, with types, such as `$5::text[], $6::int[]`. */
  list(section: SectionName, start = 0, end?: number): string {
    return this.columns(section, start, end)
      .map(({ parameter }) => parameter)
      .join(', ');
  }

  /**
   * Returns a subquery with one row for each element of the arrays of a section, or of a slice of it. Its columns have
   * the SQL names of the section's columns. A call of `unnest` in FROM would copy each array to a tuple store first,
   * which takes eight times as long.
   * @param further expressions of further columns
   */
  rows(section: SectionName, start = 0, end?: number, ...further: string[]): string {
    const lists = this.columns(section, start, end).map(({ name, parameter }) => `unnest(${parameter}) AS ${name}`);
    return `(SELECT ${[...lists, ...further].join(', ')})`;
  }

  private columns(section: SectionName, start: number, end?: number): { name: string; parameter: string }[] {
    const columns = Object.entries<ColumnType>(SECTIONS[section]).slice(start, end);
    return columns.map(([column, type]) => ({
      name: column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      parameter: `${this.at(section, column as never)}::${SQL_TYPES[type]}${this.suffix}`,
    }));
  }
}
