import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';

/**
 * Schema of `a2a.v1`, the gRPC service of A2A 0.3, as a table: each message with its fields by name, each field as
 * `number type`. `[]` marks a list, `{}` a map from texts, `|` a member of the message's oneof, and `=name` another
 * name in ProtoJSON.
 */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SendMessageConfiguration: {
    accepted_output_modes: '1 string[]',
    push_notification: '2 PushNotificationConfig',
    history_length: '3 int32',
    blocking: '4 bool',
  },
  Task: {
    id: '1 string',
    context_id: '2 string',
    status: '3 TaskStatus',
    artifacts: '4 Artifact[]',
    history: '5 Message[]',
    metadata: '6 Struct',
  },
  TaskStatus: { state: '1 TaskState', update: '2 Message =message', timestamp: '3 Timestamp' },
  Part: { text: '1 string|', file: '2 FilePart|', data: '3 DataPart|', metadata: '4 Struct' },
  FilePart: { file_with_uri: '1 string|', file_with_bytes: '2 bytes|', mime_type: '3 string', name: '4 string' },
  DataPart: { data: '1 Struct' },
  Message: {
    message_id: '1 string',
    context_id: '2 string',
    task_id: '3 string',
    role: '4 Role',
    content: '5 Part[]',
    metadata: '6 Struct',
    extensions: '7 string[]',
    reference_task_ids: '8 string[]',
  },
  Artifact: {
    artifact_id: '1 string',
    name: '3 string',
    description: '4 string',
    parts: '5 Part[]',
    metadata: '6 Struct',
    extensions: '7 string[]',
  },
  TaskStatusUpdateEvent: {
    task_id: '1 string',
    context_id: '2 string',
    status: '3 TaskStatus',
    final: '4 bool',
    metadata: '5 Struct',
  },
  TaskArtifactUpdateEvent: {
    task_id: '1 string',
    context_id: '2 string',
    artifact: '3 Artifact',
    append: '4 bool',
    last_chunk: '5 bool',
    metadata: '6 Struct',
  },
  PushNotificationConfig: {
    id: '1 string',
    url: '2 string',
    token: '3 string',
    authentication: '4 AuthenticationInfo',
  },
  AuthenticationInfo: { schemes: '1 string[]', credentials: '2 string' },
  TaskPushNotificationConfig: { name: '1 string', push_notification_config: '2 PushNotificationConfig' },
  AgentInterface: { url: '1 string', transport: '2 string' },
  AgentProvider: { url: '1 string', organization: '2 string' },
  AgentExtension: { uri: '1 string', description: '2 string', required: '3 bool', params: '4 Struct' },
  AgentCapabilities: { streaming: '1 bool', push_notifications: '2 bool', extensions: '3 AgentExtension[]' },
  AgentSkill: {
    id: '1 string',
    name: '2 string',
    description: '3 string',
    tags: '4 string[]',
    examples: '5 string[]',
    input_modes: '6 string[]',
    output_modes: '7 string[]',
    security: '8 Security[]',
  },
  AgentCardSignature: { protected: '1 string', signature: '2 string', header: '3 Struct' },
  StringList: { list: '1 string[]' },
  Security: { schemes: '1 StringList{}' },
  SecurityScheme: {
    api_key_security_scheme: '1 APIKeySecurityScheme|',
    http_auth_security_scheme: '2 HTTPAuthSecurityScheme|',
    oauth2_security_scheme: '3 OAuth2SecurityScheme|',
    open_id_connect_security_scheme: '4 OpenIdConnectSecurityScheme|',
    mtls_security_scheme: '5 MutualTlsSecurityScheme|',
  },
  APIKeySecurityScheme: { description: '1 string', location: '2 string', name: '3 string' },
  HTTPAuthSecurityScheme: { description: '1 string', scheme: '2 string', bearer_format: '3 string' },
  OAuth2SecurityScheme: { description: '1 string', oauth2_metadata_url: '3 string' },
  OpenIdConnectSecurityScheme: { description: '1 string', open_id_connect_url: '2 string' },
  MutualTlsSecurityScheme: { description: '1 string' },
  AgentCard: {
    protocol_version: '16 string',
    name: '1 string',
    description: '2 string',
    url: '3 string',
    preferred_transport: '14 string',
    additional_interfaces: '15 AgentInterface[]',
    provider: '4 AgentProvider',
    version: '5 string',
    documentation_url: '6 string',
    capabilities: '7 AgentCapabilities',
    security_schemes: '8 SecurityScheme{}',
    security: '9 Security[]',
    default_input_modes: '10 string[]',
    default_output_modes: '11 string[]',
    skills: '12 AgentSkill[]',
    supports_authenticated_extended_card: '13 bool',
    signatures: '17 AgentCardSignature[]',
  },
  SendMessageRequest: {
    request: '1 Message =message',
    configuration: '2 SendMessageConfiguration',
    metadata: '3 Struct',
  },
  GetTaskRequest: { name: '1 string', history_length: '2 int32' },
  NamedRequest: { name: '1 string' },
  CreateTaskPushNotificationConfigRequest: {
    parent: '1 string',
    config_id: '2 string',
    config: '3 TaskPushNotificationConfig',
  },
  ListTaskPushNotificationConfigRequest: { parent: '1 string', page_size: '2 int32', page_token: '3 string' },
  Nothing: {},
  SendMessageResponse: { task: '1 Task|', msg: '2 Message| =message' },
  StreamResponse: {
    task: '1 Task|',
    msg: '2 Message| =message',
    status_update: '3 TaskStatusUpdateEvent|',
    artifact_update: '4 TaskArtifactUpdateEvent|',
  },
  ListTaskPushNotificationConfigResponse: { configs: '1 TaskPushNotificationConfig[]', next_page_token: '2 string' },
};

/** Enums of `a2a.v1`, with their values in order from 0. */
const ENUMS = {
  TaskState: [
    'TASK_STATE_UNSPECIFIED',
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELLED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_REJECTED',
    'TASK_STATE_AUTH_REQUIRED',
  ],
  Role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
} as const;

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  int32: FieldDescriptorProto_Type.INT32,
  bool: FieldDescriptorProto_Type.BOOL,
};
const PACKAGE = 'a2a.v1';
const WELL_KNOWN = new Set(['Struct', 'Timestamp']);
const FIELD = /^(\d+) (\w+)(\[\]|\{\})?(\|)?(?: =(\w+))?$/;

function typeOf(name: string): { type: FieldDescriptorProto_Type; typeName?: string } {
  const scalar = SCALARS[name];
  if (scalar !== undefined) return { type: scalar };
  const type = name in ENUMS ? FieldDescriptorProto_Type.ENUM : FieldDescriptorProto_Type.MESSAGE;
  return { type, typeName: `.${WELL_KNOWN.has(name) ? 'google.protobuf' : PACKAGE}.${name}` };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function fieldOf(message: string, name: string, text: string) {
  const [, number, type = '', many, oneof, jsonName = camelCase(name)] = FIELD.exec(text) ?? [];
  const entry = { type: FieldDescriptorProto_Type.MESSAGE, typeName: `.${PACKAGE}.${message}.${entryName(name)}` };
  return {
    name,
    jsonName,
    number: Number(number),
    label: many ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    ...(many === '{}' ? entry : typeOf(type)),
    ...(oneof && { oneofIndex: 0 }),
  };
}

function entryName(field: string): string {
  const camel = camelCase(field);
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`;
}

/** Returns the descriptor of the message for the entries of a map; `text` is the map's field as in MESSAGES. */
function entryOf(field: string, text: string) {
  const [, , type = ''] = FIELD.exec(text) ?? [];
  const label = FieldDescriptorProto_Label.OPTIONAL;
  return {
    name: entryName(field),
    options: { mapEntry: true },
    field: [
      { name: 'key', jsonName: 'key', number: 1, label, type: FieldDescriptorProto_Type.STRING },
      { name: 'value', jsonName: 'value', number: 2, label, ...typeOf(type) },
    ],
  };
}

function messageOf(name: string, fields: Readonly<Record<string, string>>) {
  const entries = Object.entries(fields);
  return {
    name,
    field: entries.map(([field, text]) => fieldOf(name, field, text)),
    nestedType: entries.filter(([, text]) => text.endsWith('{}')).map(([field, text]) => entryOf(field, text)),
    oneofDecl: entries.some(([, text]) => text.includes('|')) ? [{ name: 'kind' }] : [],
  };
}

const FILE = create(FileDescriptorProtoSchema, {
  name: 'a2a.v1.proto',
  package: PACKAGE,
  syntax: 'proto3',
  dependency: ['google/protobuf/struct.proto', 'google/protobuf/timestamp.proto'],
  messageType: Object.entries(MESSAGES).map(([name, fields]) => messageOf(name, fields)),
  enumType: Object.entries(ENUMS).map(([name, values]) => ({
    name,
    value: values.map((value, number) => ({ name: value, number })),
  })),
});

const IMPORTS = [file_google_protobuf_struct, file_google_protobuf_timestamp];
const REGISTRY = createFileRegistry(FILE, (name) => IMPORTS.find((it) => it.proto.name === name));

/** Returns the descriptor of a message of `a2a.v1`, which converts between its bytes and ProtoJSON. */
export function legacyMessage(name: string): DescMessage {
  const found = REGISTRY.getMessage(`${PACKAGE}.${name}`);
  if (found === undefined) throw new Error(`The schema of a2a.v1 has no message ${name}`);
  return found;
}
