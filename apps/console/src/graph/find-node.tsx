import { Panel } from '@xyflow/react';
import { type FormEvent, useId, useState } from 'react';
import { Input } from '../components/field.js';
import { readText } from '../components/form-page.js';

interface FindNodeProps {
  ids: readonly string[];
  onFind: (id: string) => void;
}

/** Shows a search for nodes by a part of their id; Enter moves to the next match. */
export function FindNode({ ids, onFind }: FindNodeProps) {
  const list = useId();
  const [last, setLast] = useState('');
  const selectNextMatch = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = (readText(new FormData(event.currentTarget), 'node') ?? '').toLowerCase();
    const found = ids.filter((id) => id.toLowerCase().includes(wanted));
    const next = found[found.indexOf(last) + 1] ?? found[0];
    if (wanted === '' || next === undefined) return;
    setLast(next);
    onFind(next);
  };
  return (
    <Panel position="top-right">
      <form role="search" aria-label="Nodes" onSubmit={selectNextMatch}>
        <Input name="node" list={list} aria-label="Find a node" placeholder="Find a node" className="w-40!" />
        <datalist id={list}>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </datalist>
      </form>
    </Panel>
  );
}
