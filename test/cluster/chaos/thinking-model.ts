import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#libs/protocol';
import { FakeLlm } from '../../support/fake-llm.js';

/** Minimum milliseconds of an answer: long enough for a claim to be lost meanwhile. */
const LEAST_MS = 200;
const MOST_MS = 6_000;

interface Said {
  role: string;
  content: string;
}

/** Model that takes some time, and counts how often it was asked each question. */
export class ThinkingModel {
  /** Number of calls by the text of the question. */
  readonly asked = new Map<string, number>();

  private constructor(private readonly llm: FakeLlm) {
    llm.answer = (body) => this.answer(body);
  }

  static async start(): Promise<ThinkingModel> {
    return new ThinkingModel(await FakeLlm.start());
  }

  /** Environment by which replicas find the model. */
  get env(): Record<string, string> {
    return { LLM_BASE_URL: this.llm.url, LLM_MODEL: 'm' };
  }

  async stop(): Promise<void> {
    await this.llm.stop();
  }

  private async answer({ messages }: JsonObject): Promise<string> {
    // The requests themselves would fill the memory of a long trial.
    this.llm.calls.length = 0;
    const text = (messages as unknown as Said[]).findLast(({ role }) => role === 'user')?.content ?? '';
    this.asked.set(text, (this.asked.get(text) ?? 0) + 1);
    await delay(LEAST_MS + Math.random() ** 2 * (MOST_MS - LEAST_MS));
    return `thought about ${text}`;
  }
}
