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
import { ScheduleClock } from '../firing/schedule-clock.js';
import { MOST_SCHEDULES, type ScheduleDefinition } from '../storage/schedules.js';
import { ScheduleBody } from './schedule-body.js';

/** Kind of the configuration objects (entries of configuration files) that describe schedules. */
@Injectable()
export class ScheduleKind extends TableKind {
  readonly kind = 'schedule';
  readonly rank = 60;
  protected readonly table = 'schedule';
  protected readonly columns = ['workflow', 'inputs', 'timing', 'rules'];
  protected readonly most = MOST_SCHEDULES;
  protected readonly plural = 'schedules';

  constructor(
    private readonly clock: ScheduleClock,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const body = readBody(ScheduleBody, sent);
    return { id: body.name, name: body.name, definition: body.definition as unknown as JsonObject };
  }

  /** Returns the caller that saves the object: the owner of the runs. */
  override prepareObject(_object: ConfigurationObject, { owner }: ConfigurationSaver): Promise<string> {
    return Promise.resolve(owner);
  }

  override async createObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined> {
    const revision = await super.createObject(session, tenant, wanted);
    if (revision !== undefined) await this.setClock(session, tenant, wanted.name);
    return revision;
  }

  override async replaceObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined> {
    await session.query(DROP_TIME, [tenant, wanted.id, this.toColumns(wanted)['timing']]);
    const revision = await super.replaceObject(session, tenant, wanted);
    if (revision !== undefined) await this.setClock(session, tenant, wanted.name);
    return revision;
  }

  protected override toColumns({ definition, prepared }: WantedObject): Record<string, unknown> {
    const { workflow, inputs, timing, rules } = definition as unknown as ScheduleDefinition;
    const [inputsText, timingText, rulesText] = [inputs, timing, rules].map((it) => JSON.stringify(it));
    return { workflow, inputs: inputsText, timing: timingText, rules: rulesText, owner: prepared };
  }

  protected override toDefinition({ workflow, inputs, timing, rules }: JsonObject): JsonObject {
    return { workflow: workflow ?? '', inputs: inputs ?? {}, timing: timing ?? {}, rules: rules ?? {} };
  }

  private async setClock(session: ConfigurationSession, tenant: string, name: string): Promise<void> {
    const { rows } = await session.query<{ schedule_id: string }>(FIND, [tenant, name]);
    for (const { schedule_id: scheduleId } of rows) await this.clock.setClock(session, scheduleId);
  }
}

const FIND = 'SELECT schedule_id FROM schedule WHERE tenant = $1 AND name = $2';

/** Forgets the next time of a schedule whose times change. */
const DROP_TIME = `
  UPDATE schedule SET next_due = NULL WHERE tenant = $1 AND name = $2 AND timing::text <> $3::json::text`;

/** Finds the problems of a schedule that can be found without a running service. */
export function findScheduleProblems(sent: object): { path: string; detail: string }[] {
  try {
    void readBody(ScheduleBody, sent).definition;
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
