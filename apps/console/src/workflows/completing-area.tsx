import { type TextareaHTMLAttributes, useId, useRef } from 'react';
import { TextArea } from '../components/field.js';
import { type Completer, type Completing, useCompletion } from './use-completion.js';

interface CompletingAreaProps extends Omit<
  TextareaHTMLAttributes<HTMLTextAreaElement>,
  'value' | 'onChange' | 'onKeyDown' | 'onBlur'
> {
  value: string;
  onChange: (value: string) => void;
  completer: Completer;
  /** Name of the list of suggested words, for screen readers. */
  words: string;
}

/** Shows a text area that suggests words while the person types. */
export function CompletingArea({ value, onChange, completer, words, ...rest }: CompletingAreaProps) {
  const list = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const completing = useCompletion(area, completer, onChange);
  const { candidates, active, look, press, close } = completing;
  const open = candidates.length > 0;
  return (
    <div className="relative">
      <TextArea
        {...rest}
        ref={area}
        value={value}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={open}
        aria-controls={list}
        aria-activedescendant={open ? `${list}-${active}` : undefined}
        onChange={({ target }) => {
          onChange(target.value);
          look(target.value, target.selectionStart);
        }}
        onKeyDown={press}
        onBlur={close}
      />
      <Candidates id={list} label={words} completing={completing} />
    </div>
  );
}

interface CandidatesProps {
  id: string;
  label: string;
  completing: Completing;
}

function Candidates({ id, label, completing: { candidates, active, take } }: CandidatesProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label={label}
      hidden={candidates.length === 0}
      className="absolute inset-x-0 top-full z-10 max-h-40 overflow-y-auto rounded-md border bg-card py-1 shadow-lg"
    >
      {candidates.map((candidate, index) => (
        <div
          key={candidate}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          className={`px-2.5 py-1 font-mono text-sm ${index === active ? 'bg-muted' : ''}`}
          onPointerDown={(event) => {
            event.preventDefault();
            take(candidate);
          }}
        >
          {candidate}
        </div>
      ))}
    </div>
  );
}
