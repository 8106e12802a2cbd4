import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import type { ReplicaSignals, SignalTopic } from '#libs/postgres';
import { loadConfig } from '#libs/service';
import { type JournalSource, TaskJournal } from '../journal/task-journal.js';
import type { JournalEntry, JournalOutcome, TaskStore } from '../store/task-store.js';
import { CommitFeed } from './commit-feed.js';
import { type CommitLog, TASKS_COMMITTED } from './commit-log.js';

@Injectable()
class BrokenListener {
  @OnEvent(TASKS_COMMITTED)
  committed(): void {
    throw new Error('a listener of no use');
  }
}

/** Records one event of a Task. Resolves with the outcome that the journal reports. */
function recorded(taskId: string, journal: TaskJournal): Promise<unknown> {
  return new Promise((settled) => {
    const event = { artifactUpdate: { taskId, contextId: 'c', artifact: { artifactId: 'a', parts: [] } } };
    const events = [{ taskId, sequence: 1, event, json: '{}' }];
    const [token, state, updatedAt] = ['t', 'TASK_STATE_WORKING' as const, new Date()];
    const entry = { taskId, contextId: 'c', token, after: 0, events, state, updatedAt };
    const source: JournalSource = {
      account: '',
      waitingEvents: [],
      drainEntry: () => entry,
      settleEntry: (_entry, outcome) => settled(outcome),
    };
    journal.enqueueEvent(source, 2);
  });
}

it('tells the feed of commits once per batch, whoever throws, and nothing where nothing was committed', async () => {
  const sent: string[] = [];
  const ignore = (): void => undefined;
  const subscribe = (): object => ({ watch: ignore, unwatch: ignore });
  const signals = {
    subscribeTopic: subscribe,
    sendSignal: ({ name }: SignalTopic) => sent.push(name),
  } as unknown as ReplicaSignals;
  const module = await Test.createTestingModule({
    imports: [EventEmitterModule.forRoot()],
    providers: [BrokenListener, { provide: CommitFeed, useFactory: () => new CommitFeed({} as CommitLog, signals) }],
  }).compile();
  module.useLogger(false);
  await module.init();
  let outcome: JournalOutcome = 'written';
  const write = async (entries: readonly JournalEntry[]): Promise<JournalOutcome[]> => entries.map(() => outcome);
  const metrics = { batchWritten: ignore, countReached: ignore, writeRefused: ignore, watchJournal: ignore };
  const store = { writeBatch: write } as unknown as TaskStore;
  const journal = new TaskJournal(store, metrics as never, loadConfig({}), undefined, module.get(EventEmitter2));

  expect(await Promise.all(['a', 'b', 'c'].map((id) => recorded(id, journal)))).toEqual(Array(3).fill('written'));
  expect(sent).toEqual(['committed']);
  outcome = 'fenced';
  expect(await recorded('d', journal)).toBe('fenced');
  expect(sent).toEqual(['committed']);
  outcome = 'written';
  expect(await recorded('e', journal)).toBe('written');
  expect(sent).toEqual(['committed', 'committed']);
  await module.close();
});
