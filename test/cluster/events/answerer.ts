import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#libs/protocol';
import type { Api } from '../../support/workflow.js';
import { ANSWERS } from './every-construct.js';

interface Page {
  items?: { runId: string; node: string; instance: string }[];
}

/** Person who answers the questions in the inbox, while replicas are killed. */
export class Answerer {
  private readonly stopped = new AbortController();
  private readonly working: Promise<void>;

  constructor(private readonly api: Api) {
    this.working = this.work();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.working;
  }

  private async work(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      // A replica that was killed did not answer: the next look will tell.
      await this.answerAll().catch(() => undefined);
      await delay(150, undefined, { signal: this.stopped.signal }).catch(() => undefined);
    }
  }

  private async answerAll(): Promise<void> {
    const { body } = await this.api.call<Page>('GET', '/inbox?pageSize=100');
    for (const { runId, node, instance } of body.items ?? []) {
      const part: JsonObject | undefined = ANSWERS[node];
      if (part) await this.api.call('POST', `/runs/${runId}/answers`, { node: instance, parts: [part] });
    }
  }
}
