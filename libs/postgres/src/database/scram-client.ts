import pg from 'pg';

/** Messages that the server may send before it has proved itself. */
const BEFORE_PROOF: ReadonlySet<string | symbol> = new Set([
  'newListener',
  'removeListener',
  'connect',
  'sslconnect',
  'message',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
  'errorMessage',
  'notice',
  'error',
  'end',
]);

/**
 * Messages that pg always answers: a server that has proved itself may not send them again, since an attacker may
 * relay.
 */
const QUESTIONS: ReadonlySet<string | symbol> = new Set([
  'authenticationCleartextPassword',
  'authenticationMD5Password',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
]);

/** Connection of pg that emits the server's messages. */
interface ServerConnection {
  emit: (event: string | symbol, ...values: unknown[]) => boolean;
  stream: { destroy(): unknown };
}

/**
 * Session that authenticates with SCRAM-SHA-256 or not at all. By default pg answers any method that the server
 * requests: an impostor could request the password in clear text, or skip authentication. Here both sides prove that
 * they know the password. A server that requests another method, or cannot prove itself, receives nothing, and
 * `connect` rejects.
 */
export class ScramClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    demandProof(this.connection as unknown as ServerConnection);
  }
}

/**
 * Filters the server's messages until the session has begun; afterwards there is no cost. Until then, an attacker in
 * between could relay the proof of the real server and request the password after it.
 */
function demandProof(connection: ServerConnection): void {
  const { emit } = connection;
  const emitOriginal = (event: string | symbol, ...values: unknown[]): boolean =>
    emit.call(connection, event, ...values);
  let [over, proved] = [false, false];
  const mayBeSaid = (event: string | symbol): boolean => (proved ? !QUESTIONS.has(event) : BEFORE_PROOF.has(event));
  connection.emit = (event, ...values) => {
    if (over && event !== 'end') return false;
    if (event === 'error' || !mayBeSaid(event)) {
      over = true;
      connection.stream.destroy();
      return emitOriginal('error', event === 'error' ? values[0] : new Error(UNPROVEN));
    }
    if (proved && event === 'readyForQuery') connection.emit = emit;
    const received = emitOriginal(event, ...values);
    // A wrong proof has been reported as an `error` by now.
    if (event === 'authenticationSASLFinal' && !over) proved = true;
    return received;
  };
}

const UNPROVEN = 'The server at the database address does not prove with SCRAM-SHA-256 that it knows the password';
