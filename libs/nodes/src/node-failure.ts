/** Why a node could not do its work. The text is shown to callers: it quotes a remote or a config, never our internals. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
}
