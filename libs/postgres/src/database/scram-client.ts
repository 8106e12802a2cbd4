import pg from 'pg';

/** Until the server has proved itself, it may say these. */
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

/** What pg answers whenever it is said: also a server that proved itself may not ask again, since it may be two. */
const QUESTIONS: ReadonlySet<string | symbol> = new Set([
  'authenticationCleartextPassword',
  'authenticationMD5Password',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
]);

/** What pg tells its client of the server, message by message. */
interface ServerWords {
  emit: (event: string | symbol, ...values: unknown[]) => boolean;
  stream: { destroy(): unknown };
}

/**
 * A session that is begun with SCRAM-SHA-256 or not at all. Of itself pg gives whatever the server asks for: whoever
 * listens in a server's place is told the password in clear, or believed when he asks for none. Here both sides prove
 * that they know it: a server that asks for anything else, or cannot prove it, is told nothing, and `connect` rejects.
 */
export class ScramClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    demandProof(this.connection as unknown as ServerWords);
  }
}

/**
 * Costs nothing once the session has begun: then pg hears the server directly again. Until then somebody who stands
 * between may pass the proof of the real server on and ask for the password after it.
 */
function demandProof(connection: ServerWords): void {
  const { emit } = connection;
  const say = (event: string | symbol, ...values: unknown[]): boolean => emit.call(connection, event, ...values);
  let [over, proved] = [false, false];
  const mayBeSaid = (event: string | symbol): boolean => (proved ? !QUESTIONS.has(event) : BEFORE_PROOF.has(event));
  connection.emit = (event, ...values) => {
    if (over && event !== 'end') return false;
    if (event === 'error' || !mayBeSaid(event)) {
      over = true;
      connection.stream.destroy();
      return say('error', event === 'error' ? values[0] : new Error(UNPROVEN));
    }
    if (proved && event === 'readyForQuery') connection.emit = emit;
    const received = say(event, ...values);
    // What is wrong with the proof has been told as an `error` by now.
    if (event === 'authenticationSASLFinal' && !over) proved = true;
    return received;
  };
}

const UNPROVEN = 'The server at the database address does not prove with SCRAM-SHA-256 that it knows the password';
