import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isTerminalState, type StreamResponse } from '#libs/protocol';
import { sendTask, subscribe } from '../../support/a2a.js';
import type { AgentNote, MortalAgent } from '../../support/mortal-agent.js';
import {
  FIRST_TURN,
  groupOutlines,
  outlineOfHeard,
  outlineOfScripted,
  SCRIPT,
} from '../../support/mortal-agent-script.js';
import { range } from '../../support/sse.js';
import { logProblems, stateOf, storedLog } from '../../support/stored-log.js';
import type { TestDatabase } from '../../support/postgres.js';
import { before, until } from '../../support/until.js';
import { ClientLog } from '../chaos/client-log.js';
import { PersistentClient } from '../chaos/persistent-client.js';

const PAUSE_MS = 50;
/** Number that exceeds the events of any script. */
const ALL = 1_000;

export interface DoorCallOptions {
  agent: MortalAgent;
  /** Path of the registered agent. */
  path: string;
  /** First word of the Message, by which the agent identifies the Task. */
  about: string;
  /** Number of events that the agent sends before `release()`. */
  said: number;
  /** Answer to Parley's question about a lost Task. */
  decision?: 'resend' | 'fail';
}

/** Strictness of the comparison of the caller's events with the agent's notes. */
export type ResultMode = 'exact' | 'merged' | 'repeated';

/** Events of a Task as its caller received them, and as the agent noted them. */
export interface DoorResult {
  about: string;
  state: string | undefined;
  /** Texts of the Messages that the agent received. */
  heard: (string | undefined)[];
  problems: string[];
}

/**
 * Caller of a registered agent. It streams through a balancer, resumes from its cursor whenever the stream breaks, and
 * answers each question.
 */
export class DoorCall {
  readonly frames: { sequence: number; event: StreamResponse }[] = [];
  taskId = '';
  private over: Promise<void> = Promise.resolve();
  private readonly released = Promise.withResolvers<void>();
  private readonly answers: Promise<unknown>[] = [];
  private ended = false;
  private pausedAt: number | undefined;
  private readonly stopped = new AbortController();

  constructor(
    private readonly balancer: string,
    readonly options: DoorCallOptions,
  ) {}

  /** Sends the Message to a replica, then streams through the balancer. */
  async begin(replica: string): Promise<void> {
    const { agent, about, said, path } = this.options;
    agent.allow({ [about]: said });
    const configuration = { returnImmediately: true };
    this.taskId = (await sendTask(`${replica}/a2a/${path}`, `${about} go`, { configuration })).id;
    this.over = this.follow();
    this.over.catch(() => undefined);
  }

  /** Resolves when the agent has sent its allowed events, and the caller has received them. */
  async reached(query: TestDatabase['query']): Promise<void> {
    const { about, said } = this.options;
    let rows: { id: string | null }[] = [];
    const hasId = async (): Promise<boolean> => {
      const sql = 'SELECT remote_task_id AS id FROM registered_agent_task WHERE task_id = $1';
      rows = await query<{ id: string | null }>(sql, [this.taskId]);
      return rows[0]?.id !== null && rows.length === 1;
    };
    await until(
      async () => {
        if (said === 0) return this.notes().some(({ heard }) => heard !== undefined);
        return this.notes().filter(isSaid).length >= said && this.outlines().length >= said - 1 && (await hasId());
      },
      { what: () => `${about} to say ${said}: ${this.describe()}, stored ids ${JSON.stringify(rows)}` },
    );
  }

  /** Allows the agent one more event. Resolves when the caller has received it. */
  async sayNext(): Promise<void> {
    const { agent, about, said } = this.options;
    agent.allow({ [about]: said + 1 });
    if (said === 0 || said === FIRST_TURN || said >= SCRIPT.length - 1) return;
    await until(() => this.outlines(true).length >= said, {
      what: () => `${about} to be seen after ${said}: ${this.describe()}`,
    });
  }

  /** Allows the agent all events, and lets the caller answer questions. */
  release(): void {
    const { agent, about } = this.options;
    this.pausedAt = undefined;
    agent.allow({ [about]: ALL });
    this.released.resolve();
  }

  /**
   * Resolves with the result when the Task has ended.
   * @param mode `merged`: the agent may have sent events while Parley was not connected; `repeated`: the agent may have
   * sent everything again
   */
  async result(query: TestDatabase['query'], mode: ResultMode = 'exact'): Promise<DoorResult> {
    const isMerged = mode !== 'exact';
    const { about } = this.options;
    await before(this.over, { what: `the end of ${about}: ${this.describe()}` }).finally(() => this.stopped.abort());
    await Promise.allSettled(this.answers);
    const log = await storedLog(query, this.taskId);
    const problems = logProblems(log);
    const sequences = this.frames.map(({ sequence }) => sequence);
    if (sequences.join() !== range(1, log.lastSequence).join()) problems.push(`the caller saw ${sequences.join()}`);
    const [told, stored] = [this.frames.map(({ event }) => event), log.events.map(({ json }) => JSON.parse(json))];
    if (JSON.stringify(told) !== JSON.stringify(stored))
      problems.push('the caller saw another log than the stored one');
    const [seen, said] = [this.outlines(isMerged), this.saidOutlines(isMerged)];
    const toText = (it: string[]): string => (isMerged ? groupOutlines(it, mode === 'repeated') : String(it));
    if (toText(seen) !== toText(said)) problems.push(`the caller saw ${seen.join()}, the agent said ${said.join()}`);
    const heard = this.notes().flatMap((it) => it.heard ?? []);
    return { about, state: log.state, heard, problems };
  }

  /** Lets the caller answer questions, and limits the agent to `count` events. */
  pauseAt(count: number): void {
    const { agent, about } = this.options;
    this.pausedAt = count;
    agent.allow({ [about]: count });
    this.released.resolve();
  }

  /** Ends the stream. */
  stop(): void {
    this.stopped.abort();
    this.released.resolve();
  }

  notes(): AgentNote[] {
    return this.options.agent.notes(this.options.about);
  }

  /** Returns the events that came from the agent, as the caller received them. */
  outlines(isMerged = false): string[] {
    return this.frames.flatMap(({ event }) => outlineOfHeard(event, isMerged));
  }

  private saidOutlines(isMerged: boolean): string[] {
    return this.notes().flatMap(({ said }) => (said === undefined ? [] : outlineOfScripted(SCRIPT[said]!, isMerged)));
  }

  private describe(): string {
    return JSON.stringify({ seen: this.outlines(), notes: this.notes() });
  }

  private async follow(): Promise<void> {
    const { path } = this.options;
    while (!this.ended && !this.stopped.signal.aborted) {
      const cursor = this.frames.at(-1)?.sequence ?? 0;
      const reader = await subscribe(`${this.balancer}/a2a/${path}`, this.taskId, cursor).catch(() => undefined);
      while (reader && !this.ended) {
        const frame = await reader.next().catch(() => undefined);
        if (frame === undefined) break;
        if (frame.id === undefined || frame.id === String(cursor) || !frame.data.result) continue;
        this.takeEvent(Number(frame.id), frame.data.result);
      }
      reader?.abort();
      await delay(PAUSE_MS);
    }
  }

  private takeEvent(sequence: number, event: StreamResponse): void {
    this.frames.push({ sequence, event });
    const state = stateOf(event);
    if (state !== undefined && isTerminalState(state)) this.ended = true;
    if (state !== 'TASK_STATE_INPUT_REQUIRED' || !('statusUpdate' in event)) return;
    this.answers.push(this.answer(event.statusUpdate.status.message?.parts[0]?.text ?? ''));
  }

  private async answer(question: string): Promise<void> {
    const { about, said, path, decision = 'fail', agent } = this.options;
    const isDecision = question.includes('"resend"');
    if (said <= FIRST_TURN) await this.released.promise;
    if (isDecision) agent.allow({ [about]: this.pausedAt ?? ALL });
    const client = new PersistentClient(this.balancer, new ClientLog(), this.stopped.signal);
    await client.answer(path, this.taskId, randomUUID(), isDecision ? decision : `${about} answer`);
  }
}

function isSaid({ said }: AgentNote): boolean {
  return said !== undefined;
}
