import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { CheckField, ChoiceField } from '../../components/choice-fields.js';
import { Field, Input, Select } from '../../components/field.js';
import type { Graph } from '../../graph/graph.js';
import { JsonField } from '../json-field.js';
import { getWorkflow, inputNodes, listRevisions, listWorkflows, workflowListKey } from '../workflow-api.js';
import type { ConfigMember } from './config-member.js';
import { ValuesField } from './values-field.js';

const KINDS = { workflow: 'A workflow of this service', body: 'An inline definition' } as const;
const EMPTY_BODY = { nodes: [{ id: 'item', type: 'input' }], edges: [] };

/** Shows the settings of a node that runs a workflow: the workflow, its revision and its inputs. */
export function ChildFields(member: ConfigMember) {
  const { node, onConfig } = member;
  const { workflow, body } = node.config;
  const kind = body === undefined ? 'workflow' : 'body';
  const chooseSource = (next: keyof typeof KINDS): void => {
    for (const key of ['workflow', 'revision', 'body']) onConfig(key, undefined);
    if (next === 'body') onConfig('body', EMPTY_BODY);
  };
  return (
    <>
      <ChoiceField label="Runs" value={kind} options={KINDS} onChange={chooseSource} />
      {kind === 'workflow' ? (
        <Named key={readConfigText(workflow)} {...member} />
      ) : (
        <>
          <JsonField
            field={{ label: 'Definition', hint: 'Nodes and edges, as in a workflow of its own.' }}
            value={body}
            onChange={(value) => onConfig('body', value ?? EMPTY_BODY)}
          />
          <Inputs {...member} wanted={isGraph(body) ? inputNodes(body).map(({ id }) => id) : []} />
        </>
      )}
    </>
  );
}

function Named(member: ConfigMember) {
  const { node, onConfig } = member;
  const name = readConfigText(node.config['workflow']);
  const list = useId();
  const all = useQuery({ queryKey: workflowListKey(), queryFn: ({ signal }) => listWorkflows(signal) });
  const child = useQuery({
    queryKey: ['workflow', name],
    queryFn: ({ signal }) => getWorkflow(name, signal),
    enabled: name !== '',
  });
  return (
    <>
      <Field label="Workflow" error={child.failureReason === null ? undefined : `There is no workflow "${name}".`}>
        {(id) => (
          <>
            <Input
              id={id}
              list={list}
              defaultValue={name}
              autoComplete="off"
              spellCheck={false}
              onBlur={({ target }) => {
                if (target.value.trim() === name) return;
                onConfig('workflow', target.value.trim());
                onConfig('revision', undefined);
              }}
              onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
            />
            <datalist id={list}>
              {all.data
                ?.filter((it) => it.name !== member.draft.name)
                .map((it) => (
                  <option key={it.name} value={it.name}>
                    {it.description}
                  </option>
                ))}
            </datalist>
          </>
        )}
      </Field>
      {child.data && (
        <>
          <a
            href={`/workflows/edit/${encodeURIComponent(name)}`}
            target="_blank"
            rel="noreferrer"
            className="text-sm underline"
          >
            Open {name}
          </a>
          <Revision name={name} value={node.config['revision']} onChange={(value) => onConfig('revision', value)} />
          <Inputs {...member} wanted={inputNodes(child.data).map(({ id }) => id)} />
        </>
      )}
    </>
  );
}

interface RevisionProps {
  name: string;
  value: unknown;
  onChange: (revision: string | undefined) => void;
}

function Revision({ name, value, onChange }: RevisionProps) {
  const { data = [] } = useQuery({
    queryKey: ['revisions', name],
    queryFn: ({ signal }) => listRevisions(name, signal),
  });
  const chosen = readConfigText(value);
  return (
    <Field label="Revision" hint="It stays the same until this workflow is saved again.">
      {(id) => (
        <Select id={id} value={chosen} onChange={({ target }) => onChange(target.value || undefined)}>
          <option value="">The newest at the time of saving</option>
          {chosen !== '' && data.every(({ revision }) => revision !== chosen) && <option>{chosen}</option>}
          {data.map(({ revision, savedAt }) => (
            <option key={revision} value={revision}>
              {revision}, saved {new Date(savedAt).toLocaleString()}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** Shows the inputs of the workflow that the node runs. */
function Inputs({ wanted, node, path, draft, onConfig, onLanguage }: ConfigMember & { wanted: readonly string[] }) {
  const { inputs } = node.config;
  return (
    <>
      <CheckField
        label="Set its inputs"
        hint="Otherwise its inputs are the answers of the nodes before it."
        checked={inputs !== undefined}
        onChange={(is) => onConfig('inputs', is ? {} : undefined)}
      />
      {inputs !== undefined && (
        <ValuesField
          label="Inputs"
          one="input"
          value={inputs}
          wanted={wanted}
          draft={draft}
          path={`${path}.config.inputs`}
          onLanguage={onLanguage}
          onChange={(values) => onConfig('inputs', values)}
        />
      )}
    </>
  );
}

function isGraph(body: unknown): body is Graph {
  return typeof body === 'object' && body !== null && Array.isArray((body as Partial<Graph>).nodes);
}

function readConfigText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
