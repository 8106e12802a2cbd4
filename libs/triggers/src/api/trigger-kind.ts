import { Injectable } from '@nestjs/common';
import {
  ConfigurationKinds,
  type ConfigurationObject,
  type ConfigurationSaver,
  type ConfigurationSession,
  TableKind,
  type WantedObject,
} from '#libs/configuration';
import { ProblemError, readBody } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { MOST_TRIGGERS, type TriggerDefinition, USING } from '../storage/triggers.js';
import { TriggerBody } from './trigger-body.js';

/** Kind of the configuration objects (entries of configuration files) that describe triggers. */
@Injectable()
export class TriggerKind extends TableKind {
  readonly kind = 'trigger';
  readonly rank = 70;
  protected readonly table = 'workflow_trigger';
  protected readonly columns = ['workflow', 'source', 'rules'];
  protected readonly most = MOST_TRIGGERS;
  protected readonly plural = 'triggers';

  constructor(kinds: ConfigurationKinds) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const body = readBody(TriggerBody, sent);
    return { id: body.name, name: body.name, definition: body.definition as unknown as JsonObject };
  }

  /** Returns the caller that saves the object: the owner of the runs. */
  override prepareObject(_object: ConfigurationObject, { owner }: ConfigurationSaver): Promise<string> {
    return Promise.resolve(owner);
  }

  override async findUsing(session: ConfigurationSession, tenant: string, credential: string): Promise<string[]> {
    const { rows } = await session.query<{ name: string }>(USING, [tenant, credential]);
    return rows.map(({ name }) => name);
  }

  protected override toColumns({ definition, prepared }: WantedObject): Record<string, unknown> {
    const { workflow, source, rules } = definition as unknown as TriggerDefinition;
    return { workflow, source: JSON.stringify(source), rules: JSON.stringify(rules), owner: prepared };
  }

  protected override toDefinition({ workflow, source, rules }: JsonObject): JsonObject {
    return { workflow: workflow ?? '', source: source ?? {}, rules: rules ?? {} };
  }
}

/** Finds the problems of a trigger that can be found without a running service. */
export function findTriggerProblems(sent: object): { path: string; detail: string }[] {
  try {
    void readBody(TriggerBody, sent).definition;
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
