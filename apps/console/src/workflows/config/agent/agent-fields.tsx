import { ChoiceField, OptionalNumber } from '../../../components/choice-fields.js';
import { Disclosure } from '../../../components/disclosure.js';
import { SchemaField } from '../../../schema/schema-field.js';
import type { ConfigMember } from '../config-member.js';
import { answerSummary, fallbacksSummary, limitsSummary, memorySummary, toolsSummary } from './agent-summaries.js';
import { ModelField, useModels } from './model-field.js';
import { NamesField } from './names-field.js';
import { keptList, othersIn, patternsIn } from './patterns.js';
import { ToolsField } from './tools-field.js';

/** Shows an agent's settings: its model, tools, memory and limits. */
export function AgentFields(member: ConfigMember) {
  const { draft, node, onConfig } = member;
  const { config } = node;
  const { model, tools, approve } = config;
  return (
    <>
      <ModelField value={typeof model === 'string' ? model : ''} onChange={(name) => onConfig('model', name)} />
      <div className="space-y-2">
        <Disclosure title="Tools" summary={toolsSummary(config)}>
          <ToolsField
            workflow={draft.name}
            tools={patternsIn(tools)}
            others={othersIn(tools)}
            approve={patternsIn(approve)}
            onTools={(list) => onConfig('tools', keptList([...list, ...othersIn(tools)]))}
            onOthers={(list) => onConfig('tools', keptList([...patternsIn(tools), ...list]))}
            onApprove={(list) => onConfig('approve', keptList(list))}
          />
        </Disclosure>
        <Disclosure title="Other models" summary={fallbacksSummary(config)}>
          <OtherModels {...member} />
        </Disclosure>
        <Disclosure title="Output" summary={answerSummary(config)}>
          <Answer {...member} />
        </Disclosure>
        <Disclosure title="Memory" summary={memorySummary(config)}>
          <Memory {...member} />
        </Disclosure>
        <Disclosure title="Limits" summary={limitsSummary(config)}>
          <Limits {...member} />
        </Disclosure>
      </div>
    </>
  );
}

function OtherModels({ node, onConfig }: ConfigMember) {
  return (
    <NamesField
      label="Other models"
      adding="Next model to ask"
      hint="Tried in this order if a model is overloaded, fails or cannot be reached."
      names={patternsIn(node.config['fallbacks'])}
      offered={useModels()}
      onChange={(names) => onConfig('fallbacks', keptList(names))}
    />
  );
}

function Answer({ node: { config }, onConfig }: ConfigMember) {
  return (
    <>
      <SchemaField
        label="Answer type"
        hint="The model receives the schema and is asked once more if its answer does not fit. Not together with “Required output”."
        value={config['output']}
        form
        onChange={(schema) => onConfig('output', schema)}
      />
      <OptionalNumber
        label="Temperature"
        hint="Higher values give more varied answers."
        placeholder="default of the model"
        min={0}
        max={2}
        step="any"
        value={numberIn(config['temperature'])}
        onChange={(value) => onConfig('temperature', value)}
      />
    </>
  );
}

const HISTORIES = { context: 'Earlier turns of the same context', none: 'Nothing' } as const;

function Memory({ node: { config }, onConfig }: ConfigMember) {
  const history = config['history'] === 'none' ? 'none' : 'context';
  return (
    <>
      <ChoiceField
        label="Remembers"
        value={history}
        options={HISTORIES}
        onChange={(next) => onConfig('history', next === 'none' ? next : undefined)}
      />
      {history === 'context' && (
        <OptionalNumber
          label="Tokens of it"
          hint="Approximate maximum, newest turns first."
          placeholder="32000"
          min={0}
          max={1_000_000}
          value={numberIn(config['historyTokens'])}
          onChange={(value) => onConfig('historyTokens', value)}
        />
      )}
    </>
  );
}

const UNCERTAIN = {
  ask: 'A person is asked',
  fail: 'The node fails',
  repeat: 'It is called again',
} as const;

function Limits({ node: { config }, onConfig }: ConfigMember) {
  const { maxSteps, budget, onUncertain } = config;
  const tokens = typeof budget === 'object' && budget !== null ? (budget as { tokens?: unknown }).tokens : undefined;
  return (
    <>
      <OptionalNumber
        label="Calls of the model"
        hint="Beyond them the node fails."
        placeholder="10"
        min={1}
        max={100}
        value={numberIn(maxSteps)}
        onChange={(value) => onConfig('maxSteps', value)}
      />
      <OptionalNumber
        label="Tokens for one answer"
        hint="When they are used up, the node fails without another model call."
        placeholder="no limit"
        min={1}
        value={numberIn(tokens)}
        onChange={(value) => onConfig('budget', value === undefined ? undefined : { tokens: value })}
      />
      <ChoiceField
        label="Interrupted tool call"
        hint="Applies if a crash leaves open whether a non-repeatable tool was called."
        value={onUncertain === 'fail' || onUncertain === 'repeat' ? onUncertain : 'ask'}
        options={UNCERTAIN}
        onChange={(next) => onConfig('onUncertain', next === 'ask' ? undefined : next)}
      />
    </>
  );
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
