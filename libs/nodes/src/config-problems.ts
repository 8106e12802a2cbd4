import type { NodeProblem, NodeSpec } from '#libs/executor';
import type { JsonValue } from '#libs/protocol';

/** Collects what is wrong with a node's config: a sentence each, and the member that it is about. */
export class ConfigProblems {
  readonly found: NodeProblem[] = [];

  constructor(private readonly node: NodeSpec) {}

  /** Says that members are no strings, where they are present and are none. */
  strings(...keys: string[]): this {
    for (const key of keys) this.check(key, 'must be a string', (value) => typeof value === 'string');
    return this;
  }

  /** Says what a member, if present, must be and is not. */
  check(key: string, rule: string, holds: (value: JsonValue) => boolean): this {
    const value = this.node.config[key];
    return this.unless(value === undefined || holds(value), `${key} ${rule}`, key);
  }

  /** Adds a sentence unless the condition holds. @param key absent: it is about the whole config */
  unless(condition: boolean, sentence: string, key?: string): this {
    const path = key === undefined ? 'config' : `config.${key}`;
    if (!condition) this.found.push({ path, detail: `${this.node.type} node "${this.node.id}": ${sentence}` });
    return this;
  }
}
