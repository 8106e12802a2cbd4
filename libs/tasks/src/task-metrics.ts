import { Injectable, Logger, Optional } from '@nestjs/common';
import { isTerminalState, isWaitingState, type TaskState } from '#libs/protocol';
import { AppConfig, BoundedLabel, type FactPayloads, Facts, Metrics, OnFact } from '#libs/service';
import { workflowIn } from './fold/reported-model-call.js';
import type { JournalEntry, TaskHeader } from './store/task-store.js';

/** Prometheus metrics of Tasks. */
@Injectable()
export class TaskMetrics {
  private readonly states;
  private readonly size;
  private readonly latency;
  private readonly refused;
  private readonly full;

  constructor(private readonly metrics: Metrics) {
    const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    this.states = metrics.counter('parley_tasks_total', 'Tasks that reached a state, as committed by this replica', [
      'state',
    ]);
    this.size = metrics.histogram('parley_journal_batch_tasks', 'Tasks written by one journal batch', [], sizes);
    this.latency = metrics.histogram('parley_journal_batch_seconds', 'From the statement of a batch to its commit');
    this.refused = metrics.counter(
      'parley_journal_refused_total',
      'Writes that came too late: another replica had taken the task over',
    );
    this.full = metrics.counter(
      'parley_tasks_nearly_full_total',
      'Tasks whose log has passed three quarters of TASK_LIMIT, each counted once',
    );
  }

  /** Counts a Task whose log has passed three quarters of TASK_LIMIT. */
  nearlyFull(): void {
    this.full.inc();
  }

  /**
   * Registers gauges of the journal, which writes the events of all Tasks. They are read at every scrape: `seconds`
   * without a write while events wait, waiting `bytes`, and the number of Tasks `setAside` (whose writes failed and are
   * retried separately).
   */
  watchJournal(journal: { seconds(): number; bytes(): number; setAside(): number }): void {
    const age = 'For how long nothing was written although something waits';
    this.metrics.gauge('parley_journal_stall_seconds', age, [], () => journal.seconds());
    this.metrics.gauge('parley_journal_bytes', 'Bytes of events that are not yet durable', [], () => journal.bytes());
    const setAside = 'Tasks whose events cannot be written although others can';
    this.metrics.gauge('parley_journal_set_aside_tasks', setAside, [], () => journal.setAside());
  }

  /** Counts a Task whose state after a commit is `state`. */
  countReached(state: TaskState): void {
    this.states.inc({ state });
  }

  /**
   * Counts a write that the database rejected (fenced), because another replica has the claim: the right to write the
   * Task.
   */
  writeRefused(): void {
    this.refused.inc();
  }

  /**
   * Observes the size (number of Tasks) and the latency of a batch.
   * @param seconds from the start of the statement to its commit
   */
  batchWritten(tasks: number, seconds: number): void {
    this.size.observe(tasks);
    this.latency.observe(seconds);
  }
}

/** Maximum number of workflows, and of models, that get their own label value. */
const MOST_LABELS = 200;

/**
 * Prometheus metrics of the calls of models that this replica has committed. Workflows are named only with
 * METRICS_WORKFLOWS, since reading metrics needs no credentials; otherwise the label is `other`.
 */
@Injectable()
export class UsageMetrics {
  private readonly workflows;
  private readonly models = new BoundedLabel(MOST_LABELS);
  private readonly calls;
  private readonly tokens;
  private readonly cost;

  constructor(metrics: Metrics, config: AppConfig) {
    this.workflows = new BoundedLabel(config.metricsWorkflows ? MOST_LABELS : 0);
    const labels = ['workflow', 'model'] as const;
    this.calls = metrics.counter('parley_usage_calls_total', 'Calls of models by whether their tokens are known', [
      ...labels,
      'tokens',
    ]);
    const kinds = 'Tokens of calls of models: input, output, and their parts cached, cache_write and reasoning';
    this.tokens = metrics.counter('parley_usage_tokens_total', kinds, [...labels, 'kind']);
    const cost = 'Cost of the calls of models that have a price, in US dollars';
    this.cost = metrics.counter('parley_usage_cost_dollars_total', cost, labels);
  }

  /** Counts the calls of models that a committed journal entry reports. */
  countCalls({ header, calls }: NonNullable<JournalEntry['used']>): void {
    const workflow = this.workflows.boundValue(workflowIn(header.agent));
    for (const { model: name, tokens } of calls) {
      const labels = { workflow, model: this.models.boundValue(name) };
      this.calls.inc({ ...labels, tokens: tokens ? 'known' : 'unknown' });
      if (!tokens) continue;
      const { cost, ...kinds } = tokens;
      for (const [kind, count] of Object.entries(kinds)) if (count > 0) this.tokens.inc({ ...labels, kind }, count);
      if (cost !== undefined) this.cost.inc(labels, Number(cost));
    }
  }
}

type WrittenEntry = Pick<JournalEntry, 'state' | 'updatedAt' | 'events' | 'used'>;

const NODE_AGENT = /\/nodes\/([^/]+)$/;

/**
 * Emits facts (application events) about committed events: ends of Tasks (`task.settled`), questions
 * (`question.asked`), and the facts that events contain. Only the process that committed an event emits its facts, so
 * over all processes each fact is emitted once.
 */
@Injectable()
export class TaskFacts {
  constructor(
    private readonly facts: Facts,
    @Optional() private readonly usage?: UsageMetrics,
  ) {}

  /** Emits the facts of a committed journal entry, and counts the calls of models that the entry reports. */
  emitFacts({ state, updatedAt, events, used }: WrittenEntry, header: TaskHeader): void {
    if (used) this.usage?.countCalls(used);
    for (const { event } of events) {
      if ('statusUpdate' in event && event.facts) for (const fact of event.facts) this.facts.emitNamed(fact);
    }
    const { taskId, contextId, agent, tenant, owner, parentTaskId, createdAt } = header;
    const task = { taskId, contextId, agent, tenant, owner, state };
    if (isTerminalState(state)) {
      const parent = parentTaskId === undefined ? {} : { parentTaskId };
      this.facts.emit('task.settled', { ...task, ...parent, createdAt, settledAt: updatedAt });
    } else if (isWaitingState(state)) {
      const node = NODE_AGENT.exec(agent)?.[1];
      this.facts.emit('question.asked', { ...task, ...(node !== undefined && { node }) });
    }
  }
}

/** Reports that a Task waits for an answer or for authentication: as a metric, and as a log line at level debug. */
@Injectable()
export class AskedQuestions {
  private readonly logger = new Logger(AskedQuestions.name);
  private readonly asked;

  constructor(metrics: Metrics) {
    const description = 'Times that a Task began to wait for an answer or a login, as committed by this replica';
    this.asked = metrics.counter('parley_questions_total', description, ['state']);
  }

  @OnFact('question.asked')
  countQuestion({ state }: FactPayloads['question.asked']): void {
    this.asked.inc({ state });
  }

  @OnFact('question.asked')
  logQuestion({ taskId, agent, state }: FactPayloads['question.asked']): void {
    this.logger.debug({ taskId, agent, state }, 'A task asks a question');
  }
}

/** Logs the ends of Tasks at level debug. */
@Injectable()
export class SettledTasks {
  private readonly logger = new Logger(SettledTasks.name);

  @OnFact('task.settled')
  logEnd({ taskId, agent, state }: FactPayloads['task.settled']): void {
    this.logger.debug({ taskId, agent, state }, 'A task has ended');
  }
}
