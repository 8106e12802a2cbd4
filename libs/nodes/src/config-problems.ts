import type { NodeProblem, NodeSpec } from '#libs/executor';
import type { JsonValue } from '#libs/protocol';

/** Collects the problems of a node's config: one sentence each, with the member it concerns. */
export class ConfigProblems {
  readonly found: NodeProblem[] = [];

  constructor(private readonly node: NodeSpec) {}

  /** Adds a problem for each present member that is not a string. */
  checkStrings(...keys: string[]): this {
    for (const key of keys) this.checkMember(key, 'must be a string', (value) => typeof value === 'string');
    return this;
  }

  /** Adds a problem if a present member violates a rule. */
  checkMember(key: string, rule: string, holds: (value: JsonValue) => boolean): this {
    const value = this.node.config[key];
    return this.addUnless(value === undefined || holds(value), `${key} ${rule}`, key);
  }

  /** Adds a sentence unless the condition holds. @param key member; absent: the whole config */
  addUnless(condition: boolean, sentence: string, key?: string): this {
    const path = key === undefined ? 'config' : `config.${key}`;
    if (!condition) this.found.push({ path, detail: `${this.node.type} node "${this.node.id}": ${sentence}` });
    return this;
  }
}
