import type { JsonObject } from '#libs/protocol';
import { NodeFailure } from '../node-executor.js';
import type { Tool } from './tool-registry.js';

/** Returns the time: ISO 8601 in UTC, or the local time of a requested zone. */
export class CurrentTime implements Tool {
  readonly name = 'current_time';
  readonly description = 'The current date and time';
  readonly repeatable = true;
  readonly parameters: JsonObject = {
    type: 'object',
    properties: { timezone: { type: 'string', description: 'An IANA time zone, for example Europe/Paris' } },
  };

  constructor(private readonly now: () => Date = () => new Date()) {}

  runTool({ timezone }: JsonObject): string {
    const now = this.now();
    if (typeof timezone !== 'string') return now.toISOString();
    try {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
      return `${format.format(now)} ${timezone}`;
    } catch (error) {
      throw new NodeFailure(`unknown time zone "${timezone}"`, { cause: error });
    }
  }
}
