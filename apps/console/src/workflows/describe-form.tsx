import { Dialog } from 'radix-ui';
import { useRef, useState } from 'react';
import { ApiProblem, sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { CheckField } from '../components/choice-fields.js';
import { Field, TextArea } from '../components/field.js';
import { useStickToEnd } from '../components/use-stick-to-end.js';
import { ModelField } from './config/agent/model-field.js';
import { type Draft, moveNodes, placeNew } from './draft.js';
import { type DraftChange, draftChanges, lostCredentials } from './draft-changes.js';
import { draftFromText } from './draft-json.js';
import { ProblemNotes } from './problem-notes.js';
import type { DraftEditing } from './use-draft.js';
import { type GenerationState, useGeneration } from './use-generation.js';

interface DescribeFormProps {
  editing: DraftEditing;
  isNew: boolean;
  onDone: () => void;
}

/** A draft with a model's changes, and the credentials that these changes removed. */
interface Proposal {
  draft: Draft;
  lost: readonly string[];
}

/**
 * Shows the form for a description and the model's result. A new workflow replaces the canvas; changes of an existing
 * workflow are previewed first.
 */
export function DescribeForm({ editing: { draft, change }, isNew, onDone }: DescribeFormProps) {
  const [description, setDescription] = useState('');
  const [model, setModel] = useState('');
  const [keep, setKeep] = useState(true);
  const [proposal, setProposal] = useState<Proposal>();
  const [fault, setFault] = useState<string>();
  const generation = useGeneration();
  const current = keep && draft.nodes.length > 0 ? draft : undefined;
  const takeDraft = (taken: Draft): void => {
    change(() => taken);
    onDone();
  };
  const writeDraft = async (): Promise<void> => {
    setProposal(undefined);
    setFault(undefined);
    const written = await generation.start({ description, model, name: draft.name, current });
    if (!written) return;
    try {
      const placed = await placedDraft(draftFromText(JSON.stringify(written.workflow)), current !== undefined);
      const named = isNew ? placed : { ...placed, name: draft.name };
      if (current) setProposal({ draft: named, lost: lostCredentials(written.problems) });
      else takeDraft(named);
    } catch (error) {
      setFault(`The model wrote no workflow. ${sentenceOf(error)}`);
    }
  };
  return (
    <>
      <Field label="What should it do?" error={errorAt(generation.error, 'description')}>
        {(id) => (
          <TextArea
            id={id}
            rows={6}
            value={description}
            disabled={generation.pending}
            placeholder="Summarize a text in three sentences, then let a person approve the summary."
            onChange={({ target }) => setDescription(target.value)}
          />
        )}
      </Field>
      <ModelField value={model} onChange={setModel} />
      {draft.nodes.length > 0 && (
        <CheckField
          label="Change what is on the canvas"
          hint="Otherwise the model writes another workflow in its place."
          checked={keep}
          onChange={setKeep}
        />
      )}
      <Progress generation={generation} />
      {(generation.error !== undefined || fault !== undefined) && (
        <p role="alert" className="text-sm text-destructive">
          {fault ?? sentenceOf(generation.error)}
        </p>
      )}
      {proposal && <Changes changes={draftChanges(draft, proposal.draft)} />}
      {proposal && <ProblemNotes problems={proposal.lost} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {generation.pending ? (
          <Button onClick={generation.stop}>Stop</Button>
        ) : (
          <Dialog.Close asChild>
            <Button>Close</Button>
          </Dialog.Close>
        )}
        <Button
          kind={proposal ? 'plain' : 'primary'}
          disabled={generation.pending || description.trim() === ''}
          onClick={() => void writeDraft()}
        >
          {proposal ? 'Write it again' : 'Write it'}
        </Button>
        {proposal && !generation.pending && (
          <Button kind="primary" onClick={() => takeDraft(proposal.draft)}>
            Use this
          </Button>
        )}
      </div>
    </>
  );
}

/** Shows the answer of the model as it arrives, with the current step. */
function Progress({ generation: { pending, step, text } }: { generation: GenerationState }) {
  const box = useRef<HTMLPreElement>(null);
  useStickToEnd(box, text);
  return (
    <div hidden={!pending} className="space-y-1">
      <p role="status" className="text-sm">
        {pending ? step : ''}
      </p>
      <pre
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Answer of the model"
        className="max-h-40 overflow-auto rounded-md border bg-muted/50 p-2.5 text-xs whitespace-pre-wrap"
      >
        {text}
      </pre>
    </div>
  );
}

function Changes({ changes }: { changes: readonly DraftChange[] }) {
  return (
    <section aria-label="Changes" className="rounded-md border p-3 text-sm">
      {changes.length === 0 ? (
        <p>The model changed nothing.</p>
      ) : (
        <ul className="list-disc pl-5">
          {changes.map(({ kind, what }) => (
            <li key={`${kind} ${what}`}>
              {what} {kind === 'changed' ? 'changes' : `is ${kind}`}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/**
 * Returns a draft with positions for its nodes. In a changed workflow existing nodes keep their positions; a new
 * workflow is laid out as a whole.
 */
async function placedDraft(draft: Draft, isChange: boolean): Promise<Draft> {
  if (isChange) return placeNew(draft);
  const { placedAside } = await import('../graph/layout-aside.js');
  return moveNodes(draft, await placedAside(draft));
}

function errorAt(error: unknown, path: string): string | undefined {
  return error instanceof ApiProblem ? error.errors.find((it) => it.path === path)?.detail : undefined;
}
