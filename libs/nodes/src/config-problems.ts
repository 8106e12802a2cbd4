import type { NodeSpec } from '#libs/executor';
import type { JsonValue } from '#libs/protocol';

/** Collects what is wrong with a node's config, one sentence each. */
export class ConfigProblems {
  readonly found: string[] = [];

  constructor(private readonly node: NodeSpec) {}

  /** Says that members are no strings, where they are present and are none. */
  strings(...keys: string[]): this {
    for (const key of keys) this.check(key, 'must be a string', (value) => typeof value === 'string');
    return this;
  }

  /** Says what a member, if present, must be and is not. */
  check(key: string, rule: string, holds: (value: JsonValue) => boolean): this {
    const value = this.node.config[key];
    return this.unless(value === undefined || holds(value), `${key} ${rule}`);
  }

  /** Adds a sentence unless the condition holds. */
  unless(condition: boolean, sentence: string): this {
    if (!condition) this.found.push(`${this.node.type} node "${this.node.id}": ${sentence}`);
    return this;
  }
}
