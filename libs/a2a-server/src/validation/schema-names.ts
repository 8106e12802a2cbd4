import { protoName, protoNames, type ProtoNames } from '#libs/protocol';

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

/** The names in `a2a.proto` of what a request schema knows. An object without properties is free of form: it has none. */
export function schemaNames({ properties = {} }: Schema): ProtoNames {
  const below = Object.entries(properties).flatMap(([name, member]): [string, ProtoNames][] => {
    const message = member.items ?? member;
    return message.properties ? [[name, schemaNames(message)]] : [];
  });
  return protoNames(
    Object.keys(properties).filter((name) => protoName(name) !== name),
    Object.fromEntries(below.filter(([, names]) => names.members.length + names.below.length > 0)),
  );
}
