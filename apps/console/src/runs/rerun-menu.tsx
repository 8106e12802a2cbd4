import type { Schemas } from '#libs/client';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { Dialog, DropdownMenu } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { getJson } from '../api/http.js';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { CheckField } from '../components/choice-fields.js';
import { Field, FieldError, Select } from '../components/field.js';
import { ResourceView } from '../components/resource-view.js';
import { InputsForm } from '../schema/inputs-form.js';
import { firstInputs, type InputValues, rerunInputs } from '../schema/run-inputs.js';
import { getRun, type Rerun, requestRerun } from './run-api.js';
import type { RunGraph } from './run-picture.js';

interface RerunMenuProps {
  run: { runId: string; workflow: string };
  graph: RunGraph;
  /** True if the run failed, so that a rerun can be limited to what failed. */
  hasFailed: boolean;
}

/** Shows the menu that reruns an ended run. The rerun is a new run, linked to the ended one. */
export function RerunMenu({ run, graph, hasFailed }: RerunMenuProps) {
  const [, navigate] = useLocation();
  const action = useAction();
  const keyOf = useAttemptKey();
  const [asking, setAsking] = useState(false);
  const startRerun = (body: Rerun): Promise<void> =>
    action.run(async () => {
      const made = await requestRerun(run.runId, body, keyOf(body));
      setAsking(false);
      navigate(`~/runs/${encodeURIComponent(made.runId)}`);
    });
  return (
    <>
      <FieldError error={asking ? undefined : action.error} />
      <DropdownMenu.Root>
        <DropdownMenu.Trigger asChild>
          <Button disabled={action.pending}>
            <RotateCcw className="size-4" aria-hidden /> Run again
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            className="z-50 min-w-56 rounded-md border bg-card p-1 text-sm shadow-lg"
          >
            <Item onChoose={() => void startRerun({})}>All nodes</Item>
            {hasFailed && <Item onChoose={() => void startRerun({ failed: true })}>Only what failed</Item>}
            <Item onChoose={() => setAsking(true)}>With other inputs or a newer revision …</Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <Dialog.Root open={asking} onOpenChange={setAsking}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
          <Dialog.Content className="fixed top-[8vh] left-1/2 z-50 max-h-[84vh] w-[32rem] max-w-[92vw] -translate-x-1/2 space-y-4 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
            <div>
              <Dialog.Title className="font-semibold">Run {run.workflow} again</Dialog.Title>
              <Dialog.Description className="mt-1 text-sm text-muted-foreground">
                With other inputs or another revision, equal results are reused and the other nodes run again. With
                neither, all nodes run again.
              </Dialog.Description>
            </div>
            <Choices run={run} graph={graph} error={action} onStart={startRerun} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

function Item({ onChoose, children }: { onChoose: () => void; children: string }) {
  return (
    <DropdownMenu.Item
      onSelect={onChoose}
      className="cursor-pointer rounded px-2.5 py-1.5 outline-none data-[highlighted]:bg-muted"
    >
      {children}
    </DropdownMenu.Item>
  );
}

interface ChoicesProps {
  run: RerunMenuProps['run'];
  graph: RunGraph;
  error: ReturnType<typeof useAction>;
  onStart: (body: Rerun) => Promise<void>;
}

function Choices(props: ChoicesProps) {
  const { runId } = props.run;
  const resource = useQuery({ queryKey: ['run', runId], queryFn: ({ signal }) => getRun(runId, signal) });
  return <ResourceView resource={resource}>{({ inputs }) => <Form {...props} inputs={inputs} />}</ResourceView>;
}

function Form({ run, graph, error: action, onStart, inputs }: ChoicesProps & { inputs: InputValues }) {
  const nodes = graph.nodes.filter(({ type }) => type === 'input');
  const [values, setValues] = useState(() => firstInputs(nodes, inputs));
  const [changed, setChanged] = useState(false);
  const [revision, setRevision] = useState('');
  const submitRerun = (event: FormEvent): void => {
    event.preventDefault();
    void onStart({
      ...(changed && { inputs: rerunInputs(nodes, inputs, values) }),
      ...(revision !== '' && { revision }),
    });
  };
  return (
    <form onSubmit={submitRerun} className="space-y-4">
      <Revisions workflow={run.workflow} value={revision} onChange={setRevision} />
      {nodes.length > 0 && <CheckField label="With other inputs" checked={changed} onChange={(is) => setChanged(is)} />}
      {changed && <InputsForm nodes={nodes} values={values} onChange={setValues} errorAt={action.errorAt} />}
      <FieldError error={action.error} />
      <div className="flex justify-end gap-2">
        <Dialog.Close asChild>
          <Button>Cancel</Button>
        </Dialog.Close>
        <Button kind="primary" type="submit" disabled={action.pending}>
          Start
        </Button>
      </div>
    </form>
  );
}

interface RevisionsProps {
  workflow: string;
  value: string;
  onChange: (revision: string) => void;
}

function Revisions({ workflow, value, onChange }: RevisionsProps) {
  const path = `/api/workflows/${encodeURIComponent(workflow)}/revisions`;
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => getJson<Schemas['RevisionPage']>(path, signal),
  });
  return (
    <Field label="Revision of the workflow">
      {(id) => (
        <Select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">Same as the run</option>
          {data?.revisions.map(({ revision, savedAt }) => (
            <option key={revision} value={revision}>
              {revision}, saved {new Date(savedAt).toLocaleString()}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
