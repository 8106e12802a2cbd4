import type { ClientBase } from 'pg';
import type { JsonObject } from '#libs/protocol';

/** Database session that runs statements: of a transaction, or of the pool. */
export type ConfigurationSession = Pick<ClientBase, 'query'>;

/** Object that a caller keeps in a file, as `readObject` returns it after checking the definition. */
export interface ConfigurationObject {
  /** Identity among the objects of its kind in a tenant. */
  id: string;
  name: string;
  /** Definition with its defaults, so that equal objects have equal definitions. */
  definition: JsonObject;
}

/** Object as it is stored. */
export interface StoredObject extends ConfigurationObject {
  /** Text that changes with each save. */
  revision: string;
  /** Mark of the origin, such as a folder, from which the object was last applied. */
  mark?: string;
}

/** Object to save, with what its kind has prepared for it. */
export interface WantedObject extends ConfigurationObject {
  /** Result of `prepareObject`. */
  prepared: unknown;
  mark?: string | undefined;
}

/** Caller that saves objects. */
export interface ConfigurationSaver {
  tenant: string;
  owner: string;
  /** Credential of the request; `key` is the digest of its API key. */
  proof?: { readonly key?: string };
}

/**
 * Kind of objects that `POST /api/apply` saves beside workflows, such as registered agents.
 * - All statements of one request run in one transaction, which may be repeated.
 * - Calls to other services belong in `prepareObject`, before the transaction.
 */
export abstract class ConfigurationKind {
  /** Name of the kind in requests and files. */
  abstract readonly kind: string;
  /** Position among the kinds: objects of lower ranks are saved first, and deleted last. */
  abstract readonly rank: number;

  /** Reads the definition that a caller sent. @throws ProblemError 400 with paths in the definition */
  abstract readObject(sent: JsonObject): ConfigurationObject;
  /** Finds stored objects by id. In a transaction, also locks them: concurrent changes of them wait for its end. */
  abstract findObjects(session: ConfigurationSession, tenant: string, ids: readonly string[]): Promise<StoredObject[]>;
  /** Finds the objects that were last applied under a mark. */
  abstract findMarked(session: ConfigurationSession, tenant: string, mark: string): Promise<StoredObject[]>;
  /**
   * Stores a new object.
   * @returns its revision; `undefined` if an object with this id has been stored in the meantime
   * @throws ProblemError 422 if the tenant has the maximum number of objects of this kind
   */
  abstract createObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined>;
  /** Replaces an object. @returns its new revision; `undefined` if no object with this id is stored */
  abstract replaceObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined>;
  abstract markObject(session: ConfigurationSession, tenant: string, id: string, mark: string): Promise<void>;
  /** Deletes an object. @returns false if no object with this id is stored */
  abstract deleteObject(session: ConfigurationSession, tenant: string, id: string): Promise<boolean>;

  /**
   * Prepares an object that is new or changed, with calls to other services if necessary.
   * @throws ProblemError 422 with paths in the definition
   */
  prepareObject(_object: ConfigurationObject, _saver: ConfigurationSaver, _signal: AbortSignal): Promise<unknown> {
    return Promise.resolve(undefined);
  }

  /**
   * True if a sent object equals the stored one, so that it need not be saved.
   * @param isEqual compares two JSON values deeply
   */
  isSame(
    stored: StoredObject,
    wanted: ConfigurationObject,
    isEqual: (one: unknown, other: unknown) => boolean,
  ): boolean {
    return isEqual(stored.definition, wanted.definition);
  }

  /** Checks that the caller may save or delete an object. @throws ProblemError 409 */
  assertAllowed(_object: ConfigurationObject, _saver: ConfigurationSaver, _isDeleted: boolean): void {}

  /** Returns the names of the objects that use a credential. */
  findUsing(_session: ConfigurationSession, _tenant: string, _credential: string): Promise<string[]> {
    return Promise.resolve([]);
  }

  /** Does what a change requires after the transaction, such as dropping caches. */
  finishChange(_tenant: string, _changed: ConfigurationObject, _isDeleted: boolean): Promise<void> {
    return Promise.resolve();
  }
}
