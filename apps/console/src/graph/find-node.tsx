import { Panel } from '@xyflow/react';
import { type FormEvent, memo, useId, useState } from 'react';
import { Input } from '../components/field.js';
import { readText } from '../components/form-values.js';

interface FindNodeProps {
  nodes: readonly { id: string }[];
  onFind: (id: string) => void;
}

/** Maximum number of proposed nodes. */
const MOST_PROPOSED = 50;

/** Shows a search for nodes by a part of their id; Enter moves to the next match. */
export const FindNode = memo(({ nodes, onFind }: FindNodeProps) => {
  const list = useId();
  const [last, setLast] = useState('');
  /** Text in the field; `undefined` until the field gets the focus. */
  const [text, setText] = useState<string>();
  const selectNextMatch = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = (readText(new FormData(event.currentTarget), 'node') ?? '').toLowerCase();
    const found = findIds(nodes, wanted);
    const next = found[found.indexOf(last) + 1] ?? found[0];
    if (wanted === '' || next === undefined) return;
    setLast(next);
    onFind(next);
  };
  return (
    <Panel position="top-right">
      <form role="search" aria-label="Nodes" onSubmit={selectNextMatch}>
        <Input
          name="node"
          list={list}
          aria-label="Find a node"
          placeholder="Find a node"
          className="w-40!"
          onFocus={({ target }) => setText(target.value)}
          onChange={({ target }) => setText(target.value)}
        />
        <datalist id={list}>
          {text !== undefined &&
            findIds(nodes, text.toLowerCase())
              .slice(0, MOST_PROPOSED)
              .map((id) => <option key={id}>{id}</option>)}
        </datalist>
      </form>
    </Panel>
  );
});

/** Returns the ids that contain a text, ignoring case. @param wanted text in lower case */
function findIds(nodes: FindNodeProps['nodes'], wanted: string): string[] {
  return nodes.map(({ id }) => id).filter((id) => id.toLowerCase().includes(wanted));
}
