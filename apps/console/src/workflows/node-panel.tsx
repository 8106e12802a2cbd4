import { Trash2 } from 'lucide-react';
import { Button } from '../components/button.js';
import type { GraphNode } from '../graph/graph.js';
import { nodeLook } from '../nodes/node-looks.js';
import type { PluginType } from '../nodes/plugin-types.js';
import { CardPreview } from './card-preview.js';
import { ConfigField } from './config-field.js';
import { EachSection } from './control/each-section.js';
import { FailureSection } from './control/failure-section.js';
import { FollowSection } from './control/follow-section.js';
import { JoinSection } from './control/join-section.js';
import { ResultSection } from './control/result-section.js';
import { WaitSection } from './control/wait-section.js';
import {
  setConfigMember,
  connectNodes,
  disconnectNodes,
  type Draft,
  idFault,
  leadsBack,
  removeElements,
  renameNode,
  setDraft,
} from './draft.js';
import { controlsOf } from '../nodes/node-controls.js';
import { NODE_FIELDS, shownFields } from '../nodes/node-fields.js';
import { NodeIdField } from './node-id-field.js';
import { NodeTrial } from './node-trial.js';
import { ProblemNotes } from './problem-notes.js';
import type { DraftEditing } from './use-draft.js';

const SECTIONS = {
  join: JoinSection,
  follow: FollowSection,
  each: EachSection,
  failure: FailureSection,
  result: ResultSection,
  wait: WaitSection,
};

interface NodePanelProps {
  draft: Draft;
  plugins: readonly PluginType[];
  index: number;
  problems: readonly string[];
  change: DraftEditing['change'];
  onSelect: (id: string | undefined) => void;
  onSelectEdge: (id: string) => void;
  /** Workflow as it was last saved; `undefined` if it never was. */
  saved: Draft | undefined;
}

/** Shows the settings of a node. */
export function NodePanel(props: NodePanelProps) {
  const { draft, plugins, index, problems, change, onSelect, onSelectEdge, saved } = props;
  const node = draft.nodes[index];
  if (!node) return null;
  const { Icon, label, description, accent } = nodeLook(node.type);
  const plugin = plugins.find(({ type }) => type === node.type);
  const fields = NODE_FIELDS[node.type] ?? plugin?.fields ?? [];
  const path = `nodes[${index}]`;
  const control = { draft, node, path, change, onSelectEdge };
  return (
    <div className="space-y-4" data-panel={node.type}>
      <header className="flex items-center gap-2.5">
        <span className={`flex size-8 items-center justify-center rounded-md ${accent}`}>
          <Icon className="size-4.5" aria-hidden />
        </span>
        <div>
          <h2 className="leading-tight font-semibold">{label}</h2>
          <p className="text-xs text-muted-foreground">{plugin?.description ?? description}</p>
        </div>
      </header>
      <ProblemNotes problems={problems} />
      <NodeIdField
        key={node.id}
        id={node.id}
        faultOf={(id) => idFault(draft, index, id)}
        onRename={(id) => {
          change((last) => renameNode(last, index, id));
          onSelect(id);
        }}
      />
      {shownFields(fields, node.config).map((field) => (
        <ConfigField
          key={field.key}
          field={field}
          draft={draft}
          node={node}
          path={path}
          onConfig={(key, value) =>
            change((last) => setConfigMember(last, node.id, key, value), `${node.id}.${field.key}`)
          }
          onLanguage={() => change((last) => setDraft(last, { language: 2 }))}
        />
      ))}
      {node.type === 'input' && (
        <p className="text-sm text-muted-foreground">
          The person who starts a run is asked for the input <code>{node.id}</code>.
        </p>
      )}
      {node.type === 'external' && node.config['agent'] === undefined && (
        <CardPreview url={node.config['endpoint_url']} />
      )}
      <Parents draft={draft} node={node} change={change} />
      <div className="space-y-2">
        {controlsOf(node.type).map((name) => {
          const Section = SECTIONS[name];
          return <Section key={name} {...control} />;
        })}
        {saved && <NodeTrial key={node.id} workflow={draft.name} node={node} saved={saved} />}
      </div>
      <Button
        kind="danger"
        onClick={() => {
          change((last) => removeElements(last, [node.id], []));
          onSelect(undefined);
        }}
      >
        <Trash2 className="size-4" aria-hidden /> Delete node
      </Button>
    </div>
  );
}

/** Shows checkboxes that add edges to this node without drawing. */
function Parents({ draft, node, change }: { draft: Draft; node: GraphNode; change: DraftEditing['change'] }) {
  const others = draft.nodes.filter(({ id }) => id !== node.id);
  if (others.length === 0) return null;
  const parents = new Set(draft.edges.filter(({ to, loop }) => to === node.id && !loop).map(({ from }) => from));
  return (
    <fieldset className="space-y-1">
      <legend className="text-sm font-medium">Runs after</legend>
      <div className="max-h-40 space-y-1 overflow-y-auto">
        {others.map(({ id }) => (
          <label key={id} className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={parents.has(id)}
              disabled={!parents.has(id) && leadsBack(draft, { from: id, to: node.id })}
              onChange={({ target }) => {
                const edge = { from: id, to: node.id };
                change((last) => (target.checked ? connectNodes(last, edge) : disconnectNodes(last, edge)));
              }}
            />
            {id}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
