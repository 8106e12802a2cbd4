import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { loadConfig } from './config/load-config.js';
import { Readiness } from './readiness.js';
import { Shutdown, SHUTDOWN_PHASES } from './shutdown.js';

Logger.overrideLogger(false);

describe('Shutdown', () => {
  it('runs the phases in their order, those of the database after the server has closed', async () => {
    const { shutdown, readiness } = make();
    const ran: string[] = [];
    for (const phase of [...SHUTDOWN_PHASES].reverse()) {
      shutdown.registerStep(phase, async () => {
        await Promise.resolve();
        ran.push(phase);
      });
    }
    await shutdown.beforeApplicationShutdown();
    expect(readiness.draining).toBe(true);
    expect(shutdown.started.aborted).toBe(true);
    expect(ran).toEqual(['readiness', 'intake', 'streams', 'executions', 'connections']);
    await shutdown.onApplicationShutdown();
    expect(ran).toEqual([...SHUTDOWN_PHASES]);
  });

  it('continues after a step that failed', async () => {
    const { shutdown } = make();
    let reached = false;
    shutdown.registerStep('streams', () => {
      throw new Error('broken');
    });
    shutdown.registerStep('executions', () => (reached = true));
    await shutdown.beforeApplicationShutdown();
    expect(reached).toBe(true);
  });

  it('ends what the parts of a service have begun that could not be put together', async () => {
    const config = loadConfig({});
    const shutdown = new Shutdown(config, new Readiness());
    const ran: string[] = [];
    shutdown.registerStep('server', () => ran.push('server'));
    shutdown.registerStep('database', () => ran.push('database'));
    await Shutdown.afterFailedStart(loadConfig({}));
    expect(ran).toEqual([]);
    await Shutdown.afterFailedStart(config);
    expect(ran).toEqual(['database', 'server']);
  });

  it('tells the steps when the grace time is over', async () => {
    const { shutdown } = make('10ms');
    let reported = false;
    shutdown.registerStep('executions', async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reported = signal.aborted;
    });
    await shutdown.beforeApplicationShutdown();
    expect(reported).toBe(true);
  });

  it('does not wait for ever for a step that does not let go', async () => {
    const { shutdown } = make('0');
    shutdown.registerStep('executions', () => new Promise(() => undefined));
    await expect(shutdown.beforeApplicationShutdown()).resolves.toBeUndefined();
  });
});

describe('Shutdown, where no step lets go', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is over five seconds after the grace time, but for a server of its own', async () => {
    const { shutdown } = make('4s');
    const begun: string[] = [];
    for (const phase of SHUTDOWN_PHASES) {
      shutdown.registerStep(phase, () => {
        begun.push(phase);
        return phase === 'intake' || phase === 'readiness' ? undefined : new Promise(() => undefined);
      });
    }
    void shutdown.beforeApplicationShutdown().then(() => shutdown.onApplicationShutdown());
    await jest.advanceTimersByTimeAsync(4_000);
    expect(begun).toEqual(['readiness', 'intake', 'streams']);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(begun).toEqual([...SHUTDOWN_PHASES]);
  });
});

function make(grace = '5s'): { shutdown: Shutdown; readiness: Readiness } {
  const readiness = new Readiness();
  return { shutdown: new Shutdown(loadConfig({ SHUTDOWN_GRACE: grace }), readiness), readiness };
}
