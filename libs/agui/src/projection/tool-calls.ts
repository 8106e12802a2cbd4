import type { JsonObject, JsonValue } from '#libs/protocol';
import type { AguiEvent } from './agui-event.js';

/** Tool calls of the models of a Task. Models repeat their ids of calls, so each call gets an id of its own. */
export class ToolCalls {
  private readonly ids = new Map<string, string>();

  /** Returns the events for `tool.call`. @param id id of the call for the client, unique in the log */
  callEvents(instance: string, { tool, id: modelId, args }: JsonObject, id: string): AguiEvent[] {
    this.ids.set(callKey(instance, modelId), id);
    const delta = JSON.stringify(args ?? {});
    return [
      { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: typeof tool === 'string' ? tool : 'tool' },
      { type: 'TOOL_CALL_ARGS', toolCallId: id, delta },
      { type: 'TOOL_CALL_END', toolCallId: id },
    ];
  }

  /**
   * Returns the events for the outcome of a call; none for a call whose outcome was reported before.
   * @param messageId id of the message with the outcome, unique in the log
   */
  resultEvents(instance: string, { id: modelId, ...outcome }: JsonObject, messageId: string): AguiEvent[] {
    const key = callKey(instance, modelId);
    const toolCallId = this.ids.get(key);
    if (toolCallId === undefined) return [];
    this.ids.delete(key);
    return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, role: 'tool', content: contentOf(outcome) }];
  }
}

function callKey(instance: string, modelId: JsonValue | undefined): string {
  return `${instance}\0${typeof modelId === 'string' ? modelId : ''}`;
}

/** Returns the outcome of a call as text: early clients read nothing else. */
function contentOf({ result, error, outcome }: JsonObject): string {
  if (typeof error === 'string') return JSON.stringify({ error });
  if (result === undefined) return JSON.stringify({ canceled: outcome ?? true });
  return typeof result === 'string' ? result : JSON.stringify(result);
}
