/** What an expression may name, by name. */
export type Vocabulary = Readonly<Record<string, Variable>>;

/** A variable of an expression, as far as it is known when the expression is compiled. */
export interface Variable {
  /** The members that it has. Without them any may be asked for. */
  members?: Names;
  /** The members that each member has, likewise. */
  fields?: Names;
  /** `true` for one that stands only with a member, written out: `nodes.draft`, `nodes['my-draft']`. */
  onlyMembers?: boolean;
  /** `true` for a name that is kept for a later version: nothing may be called so, and nothing be asked of it. */
  isKept?: boolean;
}

export interface Names {
  has(name: string): boolean;
}

/** A variable that an expression names, and the member of it, where one is written out. */
export interface Reference {
  variable: string;
  member?: string;
  /** Where the member, else the variable, stands in the text, in UTF-16 code units. */
  offset: number;
}

/** `a.b['c']` as its names; each with the id of its syntax. */
export interface NamedPath {
  root: { name: string; id: bigint };
  members: { name: string; id: bigint }[];
}

const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
const TYPES_OF_TIME = new Set(['google.protobuf.Duration', 'google.protobuf.Timestamp']);

/** Whether a path names a type, as in `type(x) == string`. */
export function isType({ root, members }: NamedPath): boolean {
  const name = [root, ...members].map((it) => it.name).join('.');
  return TYPES.has(name) || TYPES_OF_TIME.has(name);
}

/** What is wrong with a path that begins with a variable: the message, and the id of what it is about. */
export function wrongName(
  { root, members: [member, field] }: NamedPath,
  variable: Variable,
): { message: string; id: bigint } | undefined {
  if (variable.isKept) return { message: `"${root.name}" is kept for a later version`, id: root.id };
  if (member === undefined)
    return variable.onlyMembers
      ? { message: `"${root.name}" stands with a member alone: ${root.name}.id or ${root.name}['id']`, id: root.id }
      : undefined;
  if (variable.members && !variable.members.has(member.name))
    return { message: `${root.name} has no "${member.name}"`, id: member.id };
  if (field && variable.fields && !variable.fields.has(field.name))
    return { message: `${root.name}.${member.name} has no "${field.name}"`, id: field.id };
  return undefined;
}
