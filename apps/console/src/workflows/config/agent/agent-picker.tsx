import { Plus } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { Button } from '../../../components/button.js';
import { Field, Input } from '../../../components/field.js';
import { CardPreview } from '../../card-preview.js';
import { type CallableAgent, matchingAgents } from './called-agents.js';

interface AgentPickerProps {
  agents: readonly CallableAgent[];
  /** Remarks about the list of agents, such as that it is not complete. */
  hint: string;
  onChoose: (reference: string) => void;
}

/**
 * Shows an input for an agent: a list of the matching agents, or any typed name, path or URL. The arrow keys move
 * through the list, Enter takes the marked agent or the typed text, Escape closes the list.
 */
export function AgentPicker({ agents, hint, onChoose }: AgentPickerProps) {
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  /** Index of the agent in the list that Enter takes; -1: Enter takes the typed text. */
  const [active, setActive] = useState(-1);
  const list = useId();
  const found = isOpen ? matchingAgents(agents, typed) : [];
  const closeList = (): void => {
    setOpen(false);
    setActive(-1);
  };
  const chooseAgent = (reference: string): void => {
    if (reference === '') return;
    onChoose(reference);
    setTyped('');
    closeList();
  };
  const handleListKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      const step = key === 'ArrowDown' ? 1 : -1;
      const places = found.length + 1;
      if (isOpen) setActive(((active + 1 + step + places) % places) - 1);
      else setOpen(true);
    } else if (key === 'Enter') chooseAgent(found[active]?.reference ?? typed.trim());
    else if (key === 'Escape' && isOpen) closeList();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <Field label="Add an agent" hint={hint}>
        {(id) => (
          <span className="relative flex gap-2">
            <Input
              id={id}
              role="combobox"
              aria-autocomplete="list"
              aria-expanded={found.length > 0}
              aria-controls={list}
              aria-activedescendant={active < 0 ? undefined : `${list}-${active}`}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              placeholder="a name, or https://…"
              onChange={({ target }) => {
                setTyped(target.value);
                setOpen(true);
                setActive(-1);
              }}
              onClick={() => setOpen(true)}
              onBlur={closeList}
              onKeyDown={handleListKey}
            />
            <Button
              aria-label="Add the agent"
              title="Add the agent"
              className="px-2!"
              disabled={typed.trim() === ''}
              onClick={() => chooseAgent(typed.trim())}
            >
              <Plus className="size-4" aria-hidden />
            </Button>
            <Suggestions id={list} agents={found} active={active} onChoose={chooseAgent} />
          </span>
        )}
      </Field>
      {/^https?:\/\/./i.test(typed.trim()) && <CardPreview url={typed} />}
    </>
  );
}

interface SuggestionsProps {
  id: string;
  agents: readonly CallableAgent[];
  active: number;
  onChoose: (reference: string) => void;
}

function Suggestions({ id, agents, active, onChoose }: SuggestionsProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Agents"
      hidden={agents.length === 0}
      className="absolute inset-x-0 top-full z-10 max-h-60 overflow-y-auto rounded-md border bg-card py-1 shadow-lg"
    >
      {agents.map(({ reference, about }, index) => (
        <div
          key={reference}
          ref={index === active ? scrolledInto : undefined}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          className={`px-2.5 py-1 text-sm ${index === active ? 'bg-muted' : ''}`}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(reference);
          }}
        >
          <code className="break-all">{reference}</code>
          <p className="truncate text-xs text-muted-foreground">{about}</p>
        </div>
      ))}
    </div>
  );
}

function scrolledInto(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}
