import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Members of OpenAPI's schemas that request bodies use. */
interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
}

type Json = Record<string, unknown>;

/** Accepted body, and a function that finds the invalid members of other bodies. */
interface ReadBody {
  sample: Json;
  /** Returns the paths because of which a body is refused; none if the body is accepted. */
  refused: (body: Json) => readonly string[];
}

@Module({})
class NoRoutes {}

/**
 * Returns the points on which OpenAPI and the reader of a body disagree: which members may be absent or null, types,
 * ranges, lengths, allowed words and unknown members, at every level of the body.
 */
export async function disagreements(type: abstract new () => object, read: ReadBody): Promise<string[]> {
  const app = await NestFactory.create<NestFastifyApplication>(NoRoutes, new FastifyAdapter(), { logger: false });
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().build(), { extraModels: [type] });
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  return new Comparison(schemas, read).ofObject(schemas[type.name] ?? {}, []);
}

/** Value to set for a member, and true if OpenAPI allows the value. */
type Trial = [value: unknown, isAllowed: boolean];

class Comparison {
  constructor(
    private readonly schemas: Record<string, Schema>,
    private readonly read: ReadBody,
  ) {}

  ofObject(schema: Schema, at: readonly string[]): string[] {
    const { properties = {}, required = [], additionalProperties } = schema;
    const unknown = this.tried([...at, 'noSuchMember'], ['x', additionalProperties !== false]);
    const members = Object.entries(properties).flatMap(([name, member]) => {
      const path = [...at, name];
      const isOptional = !required.includes(name);
      const found = this.resolved(member);
      const entry = this.sampleAt([...path, '0']);
      const trials: Trial[] = [[undefined, isOptional], [null, isOptional], ...trialsOf(found, entry)];
      const nested = found.items ? this.nested(found.items, [...path, '0']) : this.nested(found, path);
      return [...trials.flatMap((trial) => this.tried(path, trial)), ...nested];
    });
    return [...unknown, ...members];
  }

  private nested(schema: Schema, at: readonly string[]): string[] {
    const found = this.resolved(schema);
    return found.properties ? this.ofObject(found, at) : [];
  }

  private sampleAt(path: readonly string[]): unknown {
    return path.reduce<unknown>((it, name) => (it as Json | undefined)?.[name], this.read.sample);
  }

  private tried(path: readonly string[], [value, isAllowed]: Trial): string[] {
    const body = structuredClone(this.read.sample);
    const parent = path.slice(0, -1).reduce((it, name) => it[name] as Json, body);
    parent[path.at(-1) ?? ''] = value;
    const shown = path.join('.').replaceAll(/\.(\d+)/g, '[$1]');
    const isTaken = !this.read.refused(body).some((it) => it === shown || it.startsWith(`${shown}[`));
    if (isTaken === isAllowed) return [];
    const brief = JSON.stringify(value)?.slice(0, 40) ?? 'left out';
    return [`${shown}: ${brief} is ${isTaken ? 'taken and not' : 'refused and'} documented`];
  }

  private resolved({ $ref, allOf, ...schema }: Schema): Schema {
    const parts = (allOf ?? []).map((it) => this.resolved(it));
    const named = $ref === undefined ? {} : this.resolved(this.schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
    return Object.assign({}, named, ...parts, schema) as Schema;
  }
}

/**
 * Returns values to try for a schema: of the wrong type, at the ends of the documented ranges, and beyond them.
 * @param entry valid entry, if the schema is that of a list
 */
function trialsOf(schema: Schema, entry: unknown): Trial[] {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems, enum: words } = schema;
  const some = <T>(limit: T | undefined, trials: (limit: T) => Trial[]): Trial[] =>
    limit === undefined ? [] : trials(limit);
  const list = (length: number): unknown[] => Array.from({ length }, () => entry);
  return [
    [type === 'string' ? 7 : 'text', false],
    ...(type === 'integer' ? ([[1.5, false]] satisfies Trial[]) : []),
    ...some(minimum, (it) => [
      [it, true],
      [it - 1, false],
    ]),
    ...some(maximum, (it) => [
      [it, true],
      [it + 1, false],
    ]),
    ...some(minLength, (it) => [['x'.repeat(it - 1), false]]),
    ...some(maxLength, (it) => [
      ['x'.repeat(it), true],
      ['x'.repeat(it + 1), false],
    ]),
    ...some(minItems, (it) => [
      [list(it), true],
      [list(it - 1), false],
    ]),
    ...some(maxItems, (it) => [
      [list(it), true],
      [list(it + 1), false],
    ]),
    ...some(words, (all) => [...all.map((it): Trial => [it, true]), ['no such word', false]]),
  ];
}
