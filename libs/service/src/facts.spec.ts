import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { setImmediate } from 'node:timers/promises';
import type { KeyRevoked } from '#libs/agent-sdk';
import { Facts, MOST_UNFINISHED_CALLS, MOST_WAITING_FACTS, OnFact } from './facts.js';

const FACT: KeyRevoked = { name: 'ann', tenant: '' };

@Injectable()
class Throwing {
  @OnFact('key.revoked')
  receive(): void {
    throw new Error('of no use');
  }
}

@Injectable()
class Rejecting {
  @OnFact('key.revoked')
  async receive(): Promise<void> {
    await Promise.reject(new Error('of no use either'));
  }
}

@Injectable()
class Receiving {
  readonly received: KeyRevoked[] = [];

  @OnFact('key.revoked')
  receive(fact: KeyRevoked): void {
    this.received.push(fact);
  }
}

async function started(): Promise<{ facts: Facts; receiving: Receiving; close: () => Promise<void> }> {
  const module = await Test.createTestingModule({
    imports: [EventEmitterModule.forRoot()],
    providers: [Facts, Throwing, Rejecting, Receiving],
  }).compile();
  module.useLogger(false);
  await module.init();
  return { facts: module.get(Facts), receiving: module.get(Receiving), close: () => module.close() };
}

describe('Facts', () => {
  it('reach every listener once, whichever of them throws, rejects or never ends', async () => {
    const { facts, receiving, close } = await started();
    const plugged: KeyRevoked[] = [];
    facts.on('key.revoked', () => Promise.reject(new Error('of a plugin')), 'a.mjs');
    facts.on('key.revoked', () => new Promise(() => undefined), 'b.mjs');
    facts.on('key.revoked', (fact) => plugged.push(fact), 'c.mjs');
    facts.emit('key.revoked', FACT);
    facts.emit('replica.left', { replicaId: 'r', takenOver: 0 });
    await setImmediate();
    expect([receiving.received, plugged]).toEqual([[FACT], [FACT]]);
    await close();
  });

  it('are received after what the emitter does in the same turn', async () => {
    const { facts, receiving, close } = await started();
    facts.emit('key.revoked', FACT);
    await Promise.resolve();
    expect(receiving.received).toEqual([]);
    await setImmediate();
    expect(receiving.received).toEqual([FACT]);
    await close();
  });

  it('reach other listeners unchanged, whatever a plugin does with its copy', async () => {
    const { facts, receiving, close } = await started();
    facts.on('key.revoked', (fact) => Object.assign(fact, { name: 'bob' }), 'a.mjs');
    const last: KeyRevoked[] = [];
    facts.on('key.revoked', (fact) => last.push(fact), 'b.mjs');
    facts.emit('key.revoked', FACT);
    await setImmediate();
    expect([receiving.received, last]).toEqual([[FACT], [{ name: 'ann', tenant: '' }]]);
    await close();
  });

  it('pass by a plugin that has not ended a thousand calls, and reach it again when it has', async () => {
    const { facts, receiving, close } = await started();
    const calls: PromiseWithResolvers<void>[] = [];
    const slow = (): Promise<void> => {
      const call = Promise.withResolvers<void>();
      calls.push(call);
      return call.promise;
    };
    facts.on('key.revoked', slow, 'a.mjs');
    const emitted = MOST_UNFINISHED_CALLS + 10;
    for (let emits = 0; emits < emitted; emits += 1) facts.emit('key.revoked', FACT);
    while (receiving.received.length < emitted) await setImmediate();
    expect(calls).toHaveLength(MOST_UNFINISHED_CALLS);
    for (const { resolve } of calls) resolve();
    await setImmediate();
    facts.emit('key.revoked', FACT);
    await setImmediate();
    expect(calls).toHaveLength(MOST_UNFINISHED_CALLS + 1);
    await close();
  });

  it('wait for slow listeners up to a number, and are dropped beyond it', async () => {
    const { facts, receiving, close } = await started();
    for (let emits = 0; emits < MOST_WAITING_FACTS + 5; emits += 1) facts.emit('key.revoked', FACT);
    while (receiving.received.length < MOST_WAITING_FACTS) await setImmediate();
    facts.emit('key.revoked', FACT);
    await setImmediate();
    expect(receiving.received).toHaveLength(MOST_WAITING_FACTS + 1);
    await close();
  });

  it('are dropped where nobody listens, or where there is no emitter', async () => {
    const emitter = new EventEmitter2();
    expect(() => new Facts(emitter).emit('key.revoked', FACT)).not.toThrow();
    expect(() => new Facts().emit('key.revoked', FACT)).not.toThrow();
  });
});
