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
        <Disclosure title="Its answer" summary={answerSummary(config)}>
          <Answer {...member} />
        </Disclosure>
        <Disclosure title="What it remembers" summary={memorySummary(config)}>
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
      adding="Ask in its place"
      hint="In this order, where a model is overloaded, fails or cannot be reached."
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
        label="What it is"
        hint="Data of a schema: the model is told it, and asked once more where its answer does not fit. Not beside “What it must give”."
        value={config['output']}
        form
        onChange={(schema) => onConfig('output', schema)}
      />
      <OptionalNumber
        label="Temperature"
        hint="How freely the model chooses its words."
        placeholder="as the model has it"
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
          hint="About so many at most, the newest first."
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
  ask: 'Somebody is asked',
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
        hint="Once they are used, no model is called any more, and the node fails."
        placeholder="as many as it takes"
        min={1}
        value={numberIn(tokens)}
        onChange={(value) => onConfig('budget', value === undefined ? undefined : { tokens: value })}
      />
      <ChoiceField
        label="A tool's call that was cut off"
        hint="Where a crash leaves open whether a tool was called that must not be called twice."
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
