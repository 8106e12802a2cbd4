// TCP links in a process of its own, each of which may be closed in one direction, as by a network that loses all packets
// one way: what is sent that way waits, ends of connections as well, and goes on when the link is open again. It is told
// over IPC what to do, answers each with the same `id`, and ends with its parent.
import { connect, createServer } from 'node:net';

/** Links by their port. */
const links = new Map();

process.on('disconnect', () => process.exit());
process.on('message', ({ id, open, close, port, hold, reset }) => {
  if (open !== undefined) return openLink(open, (made) => process.send({ id, port: made }));
  const link = links.get(port);
  if (hold !== undefined) link?.hold(hold);
  if (reset) link?.reset();
  if (close) {
    link?.server.close();
    link?.reset();
    links.delete(port);
  }
  process.send({ id });
});

function openLink(target, opened) {
  const pairs = new Set();
  let held;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    const pair = joined(near, far, () => pairs.delete(pair));
    pairs.add(pair);
    if (held !== undefined) pair.hold(held);
  });
  const link = {
    server,
    hold: (direction) => {
      held = direction ?? undefined;
      for (const pair of pairs) pair.hold(held);
    },
    reset: () => {
      for (const pair of pairs) pair.reset();
    },
  };
  server.listen(0, '127.0.0.1', () => {
    links.set(server.address().port, link);
    opened(server.address().port);
  });
}

/** Connects two sockets; `over` can stop the data `there` (near to far) and `back`. */
function joined(near, far, over) {
  const ways = { there: oneWay(near, far), back: oneWay(far, near) };
  let open = 2;
  for (const socket of [near, far]) {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.once('close', () => (open -= 1) === 0 && over());
  }
  return {
    hold: (direction) => {
      for (const [name, way] of Object.entries(ways)) way.hold(direction === name);
    },
    reset: () => {
      near.destroy();
      far.destroy();
    },
  };
}

function oneWay(from, to) {
  let held = false;
  let gone = false;
  from.pipe(to);
  from.once('close', () => {
    gone = true;
    if (!held) to.destroy();
  });
  return {
    hold: (isHeld) => {
      if (isHeld === held) return;
      held = isHeld;
      if (held) from.unpipe(to);
      else if (gone) to.destroy();
      else from.pipe(to);
    },
  };
}
