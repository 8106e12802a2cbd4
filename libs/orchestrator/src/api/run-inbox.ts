import { Injectable } from '@nestjs/common';
import { type OpenQuestion, TaskQuestions, type TaskScope } from '#libs/tasks';
import { type InboxItem, type InboxPage, type InboxQuery, pageTokenAfterQuestion } from './question.dto.js';
import { workflowOf } from './run-task.js';

/**
 * Pattern of the agents whose runs are listed. The caller of a single node answers its run directly; the API does not
 * list such runs.
 */
const RUNS = 'workflows/*';

/** Lists the open questions of a caller's runs, oldest first. */
@Injectable()
export class RunInbox {
  constructor(private readonly questions: TaskQuestions) {}

  async listQuestions({ assignee, pageSize, after }: InboxQuery, scope: TaskScope): Promise<InboxPage> {
    const which = { ...(assignee !== undefined && { assignee }), ...(after && { after }) };
    const found = await this.questions.listQuestions({ scope, agent: RUNS, ...which, limit: pageSize + 1 });
    const page = found.slice(0, pageSize);
    const last = page.at(-1);
    const more = last !== undefined && found.length > page.length;
    return { items: page.map(itemOf), nextPageToken: more ? pageTokenAfterQuestion(last) : '' };
  }
}

function itemOf({ taskId, agent, key, assignee, since, body }: OpenQuestion): InboxItem {
  const { node, text, form, deadline } = body as unknown as Pick<InboxItem, 'node' | 'text' | 'form' | 'deadline'>;
  return {
    runId: taskId,
    workflow: workflowOf({ agent }),
    node,
    instance: key,
    text,
    ...(form && { form }),
    ...(assignee !== undefined && { assignee }),
    ...(deadline !== undefined && { deadline }),
    since: since.toISOString(),
  };
}
