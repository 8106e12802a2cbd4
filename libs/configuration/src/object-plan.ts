import { isDeepStrictEqual } from 'node:util';
import { malformedRequest, type ProblemEntry, ProblemError } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import type {
  ConfigurationKind,
  ConfigurationObject,
  ConfigurationSaver,
  ConfigurationSession,
  StoredObject,
} from './configuration-kind.js';
import type { ConfigurationKinds } from './configuration-kinds.js';

/** Milliseconds for the preparation of all objects of a request. */
const PREPARE_MS = 60_000;
/** Maximum number of objects that are prepared at the same time. */
const PREPARED_AT_ONCE = 8;

/** Objects of one request. */
interface SentObjects {
  objects: readonly { kind: string; definition: JsonObject; revision?: string | null }[];
  mark?: string | undefined;
  /**
   * False to replace only two kinds of stored objects: those that were last applied under `mark`, and those for which
   * the request names the expected `revision`.
   */
  adopt?: boolean | undefined;
}

/** Outcome for one object, with its warnings. */
export interface ObjectOutcome {
  kind: string;
  name: string;
  action: 'created' | 'updated' | 'unchanged' | 'deleted';
  revision?: string;
  problems: ProblemEntry[];
}

/** Object of a request, with its kind and its position in the request. */
interface PlannedObject extends ConfigurationObject {
  kind: ConfigurationKind;
  index: number;
  /** Expected revision, as sent. */
  expected: string | null | undefined;
  /** Result of the kind's preparation; absent: not prepared. */
  prepared?: { value: unknown };
}

/**
 * Plan for the objects of one request, which saves them in the order of their kinds. Use it as follows:
 * - `makePlan` checks the objects, and `prepareObjects` calls other services: both outside of transactions.
 * - `saveObjects` and `pruneObjects` run in one transaction, which may be repeated.
 * - `finishChanges` runs after the commit.
 */
export class ObjectPlan {
  private changed: { object: ConfigurationObject; kind: ConfigurationKind; isDeleted: boolean }[] = [];

  private constructor(
    private readonly kinds: ConfigurationKinds,
    private readonly planned: readonly PlannedObject[],
    private readonly sent: SentObjects,
    private readonly saver: ConfigurationSaver,
  ) {}

  /** Checks the objects of a request. @throws ProblemError 400 with one entry for each fault */
  static makePlan(kinds: ConfigurationKinds, sent: SentObjects, saver: ConfigurationSaver): ObjectPlan {
    const faults: ProblemEntry[] = [];
    const planned = sent.objects.flatMap((it, index): PlannedObject[] => {
      const kind = kinds.get(it.kind);
      if (!kind) {
        const known = kinds.listKinds().map((known) => known.kind);
        faults.push({ path: `objects[${index}].kind`, detail: `must be one of ${known.join(', ')}` });
        return [];
      }
      try {
        return [{ ...kind.readObject(it.definition), kind, index, expected: it.revision }];
      } catch (error) {
        faults.push(...entriesAt(index, error));
        return [];
      }
    });
    faults.push(...repeatedObjects(planned));
    if (faults.length > 0) throw malformedRequest(...faults);
    const ordered = planned.toSorted((one, other) => one.kind.rank - other.kind.rank || one.index - other.index);
    return new ObjectPlan(kinds, ordered, sent, saver);
  }

  get isEmpty(): boolean {
    return this.planned.length === 0;
  }

  /** Names of the objects by kind. */
  get names(): Map<string, Set<string>> {
    const names = new Map<string, Set<string>>();
    for (const { kind, name } of this.planned) {
      const known = names.get(kind.kind) ?? new Set();
      names.set(kind.kind, known.add(name));
    }
    return names;
  }

  /**
   * Prepares the objects that are new or differ from the stored ones, a few at the same time.
   * @throws ProblemError 422 with one entry for each object that cannot be saved
   */
  async prepareObjects(session: ConfigurationSession): Promise<void> {
    const waiting: PlannedObject[] = [];
    for (const [kind, objects] of this.byKind()) {
      const stored = await this.findStored(session, kind, objects);
      waiting.push(...objects.filter((it) => !this.isUnchanged(it, stored.get(it.id))));
    }
    const signal = AbortSignal.timeout(PREPARE_MS);
    const faults: ProblemEntry[] = [];
    const prepareWaiting = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        try {
          next.prepared = { value: await next.kind.prepareObject(next, this.saver, signal) };
        } catch (error) {
          faults.push(...entriesAt(next.index, error));
        }
      }
    };
    await Promise.all(Array.from({ length: PREPARED_AT_ONCE }, prepareWaiting));
    if (faults.length > 0) throw new ProblemError(422, faults.map(({ detail }) => detail).join('; '), faults);
  }

  /**
   * Saves the objects.
   * @param dryRun true to report the changes only
   * @throws ProblemError 412 for an object whose stored revision is not the expected one, and 412 NOT_ADOPTED for an
   *   object that `adopt: false` protects; 409 for an object that another request is changing
   */
  async saveObjects(session: ConfigurationSession, dryRun: boolean): Promise<ObjectOutcome[]> {
    this.changed = [];
    const outcomes: ObjectOutcome[] = [];
    const foreign: ProblemEntry[] = [];
    for (const [kind, objects] of this.byKind()) {
      const stored = await this.findStored(session, kind, objects);
      for (const object of objects) {
        const found = stored.get(object.id);
        requireRevision(object, found?.revision);
        if (found && this.isForeign(object, found)) foreign.push(foreignEntry(object, found));
        else outcomes.push(await this.saveObject(session, object, found, dryRun));
      }
    }
    if (foreign.length === 0) return outcomes;
    throw new ProblemError(412, foreign.map(({ detail }) => detail).join('; '), foreign, 'NOT_ADOPTED');
  }

  /** Finds the objects that were applied under the mark before, but are not in this request. */
  async findPrunable(session: ConfigurationSession): Promise<{ kind: ConfigurationKind; object: StoredObject }[]> {
    const { mark } = this.sent;
    if (mark === undefined) return [];
    const found: { kind: ConfigurationKind; object: StoredObject }[] = [];
    for (const kind of this.kinds.listKinds().toReversed()) {
      const sent = new Set(this.planned.filter((it) => it.kind === kind).map(({ id }) => id));
      const marked = await kind.findMarked(session, this.saver.tenant, mark);
      found.push(...marked.filter(({ id }) => !sent.has(id)).map((object) => ({ kind, object })));
    }
    return found;
  }

  /**
   * Deletes the objects of `findPrunable`. Call it after `saveObjects`, in the same transaction.
   * @param findWorkflows finds the workflows that name an object
   * @throws ProblemError 409 if something still names an object
   */
  async pruneObjects(
    session: ConfigurationSession,
    dryRun: boolean,
    findWorkflows: (kind: string, name: string) => Promise<string[]>,
  ): Promise<ObjectOutcome[]> {
    const outcomes: ObjectOutcome[] = [];
    const gone = new Set<string>();
    for (const { kind, object } of await this.findPrunable(session)) {
      const users = [
        ...(await findWorkflows(kind.kind, object.name)).map((name) => `workflow "${name}"`),
        ...(kind.kind === 'credential' ? await this.findUsers(session, object.name) : []),
      ].filter((user) => !gone.has(user));
      if (users.length > 0) throw stillUsed(kind.kind, object.name, users);
      kind.assertAllowed(object, this.saver, true);
      if (!dryRun && !(await kind.deleteObject(session, this.saver.tenant, object.id))) continue;
      gone.add(`${kind.kind} "${object.name}"`);
      this.changed.push({ kind, object, isDeleted: true });
      outcomes.push({ kind: kind.kind, name: object.name, action: 'deleted', problems: [] });
    }
    return outcomes;
  }

  private async findUsers(session: ConfigurationSession, credential: string): Promise<string[]> {
    const found: string[] = [];
    for (const kind of this.kinds.listKinds()) {
      const names = await kind.findUsing(session, this.saver.tenant, credential);
      found.push(...names.map((name) => `${kind.kind} "${name}"`));
    }
    return found;
  }

  /** Calls `finishChange` of the kind for each saved or deleted object. Call it after the commit. */
  async finishChanges(): Promise<void> {
    for (const { kind, object, isDeleted } of this.changed)
      await kind.finishChange(this.saver.tenant, object, isDeleted);
  }

  private async saveObject(
    session: ConfigurationSession,
    object: PlannedObject,
    found: StoredObject | undefined,
    dryRun: boolean,
  ): Promise<ObjectOutcome> {
    const { kind, id, name, prepared } = object;
    const { tenant } = this.saver;
    const { mark } = this.sent;
    const problems = await this.findWarnings(session, object);
    if (found && this.isUnchanged(object, found)) {
      if (mark !== undefined && !dryRun) await kind.markObject(session, tenant, id, mark);
      return { kind: kind.kind, name, action: 'unchanged', revision: found.revision, problems };
    }
    kind.assertAllowed(object, this.saver, false);
    const action = found ? 'updated' : 'created';
    if (dryRun) return { kind: kind.kind, name, action, ...(found && { revision: found.revision }), problems };
    const wanted = { ...object, prepared: prepared?.value, mark };
    const revision =
      prepared &&
      (found ? await kind.replaceObject(session, tenant, wanted) : await kind.createObject(session, tenant, wanted));
    if (revision === undefined)
      throw new ProblemError(409, `the ${kind.kind} "${name}" is being changed by others; try again`);
    this.changed.push({ kind, object, isDeleted: false });
    return { kind: kind.kind, name, action, revision, problems };
  }

  /** Returns a warning if the object names a credential that neither exists nor is in the request. */
  private async findWarnings(session: ConfigurationSession, { definition }: PlannedObject): Promise<ProblemEntry[]> {
    const { auth } = definition;
    const credentials = this.kinds.get('credential');
    if (typeof auth !== 'string' || !credentials || this.names.get('credential')?.has(auth)) return [];
    const found = await credentials.findObjects(session, this.saver.tenant, [auth]);
    return found.length > 0 ? [] : [{ path: 'auth', detail: `the credential "${auth}" does not exist` }];
  }

  private isUnchanged(object: PlannedObject, stored: StoredObject | undefined): boolean {
    return stored !== undefined && object.kind.isSame(stored, object, isDeepStrictEqual);
  }

  private isForeign(object: PlannedObject, found: StoredObject): boolean {
    const { adopt = true, mark } = this.sent;
    if (adopt || object.expected !== undefined || this.isUnchanged(object, found)) return false;
    return mark === undefined || found.mark !== mark;
  }

  private byKind(): Map<ConfigurationKind, PlannedObject[]> {
    return Map.groupBy(this.planned, ({ kind }) => kind);
  }

  private async findStored(
    session: ConfigurationSession,
    kind: ConfigurationKind,
    objects: readonly PlannedObject[],
  ): Promise<Map<string, StoredObject>> {
    const ids = objects.map(({ id }) => id);
    const found = await kind.findObjects(session, this.saver.tenant, ids);
    return new Map(found.map((it) => [it.id, it]));
  }
}

/** Maximum number of objects and workflows that an error lists because they still name an object. */
const MOST_USERS = 10;

function stillUsed(kind: string, name: string, users: readonly string[]): ProblemError {
  const shown = `${users.slice(0, MOST_USERS).join(', ')}${users.length > MOST_USERS ? ', …' : ''}`;
  return new ProblemError(409, `the ${kind} "${name}" cannot be deleted: it is named by ${shown}`);
}

function requireRevision({ kind, name, expected }: PlannedObject, current: string | undefined): void {
  if (expected === undefined || expected === (current ?? null)) return;
  const is = current === undefined ? 'does not exist' : 'has been changed by others';
  throw new ProblemError(412, `the ${kind.kind} "${name}" ${is} since it was last seen`);
}

function foreignEntry({ kind, name, index }: PlannedObject, { revision }: StoredObject): ProblemEntry {
  const detail = `the ${kind.kind} "${name}" exists with the revision ${revision}, and was not applied from here before`;
  return { path: `objects[${index}].definition.name`, detail };
}

/** Returns the entries of a ProblemError with their paths in the request. @throws any other error */
function entriesAt(index: number, error: unknown): ProblemEntry[] {
  if (!(error instanceof ProblemError)) throw error;
  const place = `objects[${index}].definition`;
  if (error.errors.length === 0) return [{ path: place, detail: error.message }];
  return error.errors.map((it) => ({ ...it, path: it.path === '' ? place : `${place}.${it.path}` }));
}

function repeatedObjects(planned: readonly PlannedObject[]): ProblemEntry[] {
  const first = new Map<string, number>();
  return planned.flatMap(({ kind, id, index }) => {
    const key = `${kind.kind}/${id}`;
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    const path = `objects[${index}].definition.name`;
    return before === undefined ? [] : [{ path, detail: `is that of objects[${before}] as well` }];
  });
}
