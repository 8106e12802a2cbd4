/** Variables that an expression may use, by name. */
export type Vocabulary = Readonly<Record<string, Variable>>;

/** Variable of an expression, as far as it is known at compile time. */
export interface Variable {
  /** Members that it has; any member is allowed if absent. */
  members?: Names;
  /** Members of each of its members; any is allowed if absent. */
  fields?: Names;
  /** True if the variable must be followed by a literal member: `nodes.draft`, `nodes['my-draft']`. */
  onlyMembers?: boolean;
  /** True if the name is reserved for a later version: it can be neither bound nor read. */
  isKept?: boolean;
}

export interface Names {
  has(name: string): boolean;
}

/** Reference of an expression to a variable, and to its member if that is literal. */
export interface Reference {
  variable: string;
  member?: string;
  /** Offset of the member, else of the variable, in UTF-16 code units. */
  offset: number;
}

/** `a.b['c']` as names, each with the id of its syntax. */
export interface NamedPath {
  root: { name: string; id: bigint };
  members: { name: string; id: bigint }[];
}

const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
const TYPES_OF_TIME = new Set(['google.protobuf.Duration', 'google.protobuf.Timestamp']);

/** True if a path names a type, as in `type(x) == string`. */
export function isType({ root, members }: NamedPath): boolean {
  const name = [root, ...members].map((it) => it.name).join('.');
  return TYPES.has(name) || TYPES_OF_TIME.has(name);
}

/** Returns the fault of a path that begins with a variable, and the id of the syntax at fault. */
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
