import { type FormEvent } from 'react';
import { TASK_STATES } from '../api/task.js';
import { AgentInput } from '../components/agent-input.js';
import { Button } from '../components/button.js';
import { Input, Select } from '../components/field.js';
import { readText } from '../components/form-values.js';
import { lookOf } from '../components/status-badge.js';

/** Search criteria for Tasks; an empty text sets no limit. */
export interface TaskSearch {
  state: string;
  agent: string;
  context: string;
  /** `true` to show only top-level Tasks, which no other Task started. */
  top: string;
}

const TOP_LEVEL = 'Runs, conversations and brainstorms that no other Task started';

interface TaskFilterFormProps {
  filter: TaskSearch;
  onFilter: (filter: TaskSearch) => void;
}

export function TaskFilterForm({ filter, onFilter }: TaskFilterFormProps) {
  const searchTasks = (form: HTMLFormElement): void => {
    const fields = new FormData(form);
    onFilter({
      state: readText(fields, 'state') ?? '',
      agent: readText(fields, 'agent') ?? '',
      context: readText(fields, 'context') ?? '',
      top: readText(fields, 'top') ?? '',
    });
  };
  const submitSearch = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    searchTasks(event.currentTarget);
  };
  return (
    <form
      role="search"
      aria-label="Tasks"
      onSubmit={submitSearch}
      className="flex flex-wrap gap-2 border-b bg-card px-4 py-2"
    >
      <Select
        name="state"
        aria-label="State"
        defaultValue={filter.state}
        onChange={({ currentTarget }) => currentTarget.form && searchTasks(currentTarget.form)}
        className="w-44!"
      >
        <option value="">Any state</option>
        {TASK_STATES.map((state) => (
          <option key={state} value={state}>
            {lookOf(state).label}
          </option>
        ))}
      </Select>
      <div className="min-w-40 grow basis-40">
        <AgentInput servedOnly name="agent" aria-label="Agent" placeholder="Agent" defaultValue={filter.agent} />
      </div>
      <div className="min-w-40 grow basis-40">
        <Input name="context" aria-label="Context id" placeholder="Context id" defaultValue={filter.context} />
      </div>
      <label className="flex items-center gap-1.5 text-sm" title={TOP_LEVEL}>
        <input
          type="checkbox"
          name="top"
          value="true"
          defaultChecked={filter.top !== ''}
          onChange={({ currentTarget }) => currentTarget.form && searchTasks(currentTarget.form)}
        />
        Only top level
      </label>
      <Button type="submit">Search</Button>
    </form>
  );
}

/** Returns an agent's path for a person's input, which is a workflow's name or the path of another agent. */
export function agentPath(agent: string): string {
  const path = agent.replace(/^\/?(a2a\/)?/, '').replace(/(?<!\/)\/+$/, '');
  return path.includes('/') || path === 'conversations' ? path : `workflows/${path}`;
}
