import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../../support/workflow.js';
import { AGENT } from './agent-runs.js';
import { CALLER } from './call-runs.js';

interface Page {
  items?: { runId: string; node: string; instance: string }[];
}

/** Person who approves everything that an agent asks, while replicas are killed. */
export class YesSayer {
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
      if (![AGENT, CALLER].includes(node)) continue;
      await this.api.call('POST', `/runs/${runId}/answers`, { node: instance, parts: [{ text: 'yes' }] });
    }
  }
}
