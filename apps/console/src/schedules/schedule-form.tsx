import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { queries } from '../api/queries.js';
import { useAction } from '../api/use-action.js';
import { Field, Input, Select } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import type { GraphNode } from '../graph/graph.js';
import { InputsForm } from '../schema/inputs-form.js';
import { firstInputs, givenInputs, type InputValues, rerunInputs } from '../schema/run-inputs.js';
import { getWorkflow, inputNodes, listWorkflows, workflowListKey } from '../workflows/workflow-api.js';
import { getSchedule, type Schedule, storeSchedule } from './schedule-api.js';
import { OVERLAPS, scheduleBody, timingKindOf } from './schedule-fields.js';
import { TimingFields } from './timing-fields.js';

const UP = { label: 'Schedules', href: '/' };

/** Shows the form that adds a schedule. */
export function NewSchedule() {
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Add a schedule" up={UP} />
      <div className="min-h-0 grow overflow-y-auto">
        <ScheduleForm />
      </div>
    </div>
  );
}

/** Shows the form that replaces a schedule. Its history and its runs stay. */
export function EditSchedule({ name }: { name: string }) {
  const schedule = useQuery({ queryKey: ['schedule', name], queryFn: ({ signal }) => getSchedule(name, signal) });
  return (
    <div className="flex h-full flex-col">
      <PageHeader title={`Edit ${name}`} up={{ label: name, href: `/named/${name}` }} />
      <div className="min-h-0 grow overflow-y-auto">
        <ResourceView resource={schedule}>{(data) => <ScheduleForm schedule={data} />}</ResourceView>
      </div>
    </div>
  );
}

function ScheduleForm({ schedule }: { schedule?: Schedule }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const [kind, setKind] = useState(() => timingKindOf(schedule ?? {}));
  const [workflow, setWorkflow] = useState(schedule?.workflow ?? '');
  const [values, setValues] = useState<InputValues>();
  const nodes = useInputNodes(workflow);
  const shown = values ?? firstInputs(nodes ?? [], workflow === schedule?.workflow ? schedule.inputs : {});
  const chooseWorkflow = (name: string): void => {
    setWorkflow(name);
    setValues(undefined);
  };
  const save = async (fields: FormData): Promise<void> => {
    const kept = workflow === schedule?.workflow ? schedule.inputs : undefined;
    // Without the workflow's input nodes the form shows no inputs, so the stored ones stay.
    const inputs = kept ? rerunInputs(nodes ?? [], kept, shown) : givenInputs(nodes ?? [], shown);
    const { name } = await storeSchedule(schedule?.name, scheduleBody(fields, kind, inputs));
    await queries.invalidateQueries({ queryKey: ['schedule', name] });
    navigate(`/named/${name}`);
  };
  return (
    <FormPage
      action={action}
      submit={schedule ? 'Save' : 'Add'}
      onSubmit={(fields) => void action.run(() => save(fields))}
    >
      {schedule === undefined && (
        <Field label="Name" hint="Such as morning-report." error={action.errorAt('name')}>
          {(id) => <Input id={id} name="name" required autoComplete="off" spellCheck={false} />}
        </Field>
      )}
      <WorkflowField chosen={workflow} onChange={chooseWorkflow} error={action.errorAt('workflow')} />
      {nodes && <InputsForm nodes={nodes} values={shown} onChange={setValues} errorAt={action.errorAt} />}
      <TimingFields schedule={schedule} kind={kind} onKind={setKind} errorAt={action.errorAt} />
      <RuleFields schedule={schedule} errorAt={action.errorAt} />
    </FormPage>
  );
}

/** Returns the input nodes of a saved workflow; `undefined` until they are known. */
function useInputNodes(workflow: string): GraphNode[] | undefined {
  const { data } = useQuery({
    queryKey: ['workflow', workflow, 'inputs'],
    queryFn: async ({ signal }) => inputNodes(await getWorkflow(workflow, signal)),
    enabled: workflow !== '',
  });
  return data;
}

interface WorkflowFieldProps {
  chosen: string;
  onChange: (name: string) => void;
  error: string | undefined;
}

function WorkflowField({ chosen, onChange, error }: WorkflowFieldProps) {
  const { data } = useQuery({ queryKey: workflowListKey(), queryFn: ({ signal }) => listWorkflows(signal) });
  const names = new Set([...(data ?? []).map(({ name }) => name), ...(chosen === '' ? [] : [chosen])]);
  return (
    <Field label="Workflow" hint="Each time starts one run of it." error={error}>
      {(id) => (
        <Select id={id} name="workflow" required value={chosen} onChange={({ target }) => onChange(target.value)}>
          <option value="">Choose a workflow</option>
          {[...names].toSorted().map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

interface RuleFieldsProps {
  schedule: Schedule | undefined;
  errorAt: (path: string) => string | undefined;
}

function RuleFields({ schedule, errorAt }: RuleFieldsProps) {
  return (
    <>
      <Field label="If an earlier run has not ended" error={errorAt('overlap')}>
        {(id) => (
          <Select id={id} name="overlap" defaultValue={schedule?.overlap ?? 'skip'}>
            {Object.entries(OVERLAPS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="Late by at most"
        hint="After an outage, a run starts late by up to this time, such as 10m; later times count as missed."
        error={errorAt('catchUp')}
      >
        {(id) => <Input id={id} name="catchUp" placeholder="10m" defaultValue={schedule?.catchUp} />}
      </Field>
      <Field
        label="Pause after failed runs"
        hint="Number of failed runs in a row. Empty: never."
        error={errorAt('pauseAfterFailures')}
      >
        {(id) => (
          <Input
            id={id}
            name="pauseAfterFailures"
            type="number"
            min={1}
            defaultValue={schedule?.pauseAfterFailures ?? ''}
          />
        )}
      </Field>
    </>
  );
}
