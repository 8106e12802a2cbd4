import { Controller, Get, Injectable } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, type HealthCheckResult, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { withinTime } from './waits.js';

export type ReadinessCheck = () => unknown;

const CHECK_TIMEOUT_MS = 2_000;

/** Collects the checks that decide whether a load balancer should send requests to this replica. */
@Injectable()
export class Readiness {
  private readonly checks = new Map<string, ReadinessCheck>();
  private readonly remarks = new Map<string, () => string | undefined>();
  /** True once the shutdown has begun: new work is refused. */
  draining = false;
  /** True once the service listens. */
  started = false;

  /**
   * Adds a readiness check. A check fails if it throws, rejects, takes longer than two seconds, returns `false`, or
   * returns a sentence. The sentence states the reason, and callers may read it.
   */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /**
   * Adds a remark that does not affect readiness. The remark's sentence, which anyone may read, is reported together
   * with the outcomes of the checks.
   */
  addRemark(name: string, remark: () => string | undefined): void {
    this.remarks.set(name, remark);
  }

  /** Returns the current remarks by name; a remark is `undefined` if nothing is wrong. */
  collectRemarks(): [name: string, remark: string | undefined][] {
    return [...this.remarks].map(([name, remark]) => [name, remark()]);
  }

  /**
   * Runs the readiness checks. Returns by name true, false, or the sentence that explains a failure. Error texts are
   * not exposed.
   */
  async runChecks(): Promise<Record<string, boolean | string>> {
    const entries = [...this.checks].map(async ([name, check]) => [name, await outcomeOf(check)] as const);
    return { ...Object.fromEntries(await Promise.all(entries)), accepting: !this.draining };
  }
}

async function outcomeOf(check: ReadinessCheck): Promise<boolean | string> {
  try {
    const checked = Promise.resolve(check()).then((result) => (typeof result === 'string' ? result : result !== false));
    return (await withinTime(checked, CHECK_TIMEOUT_MS)) ?? false;
  } catch {
    return false;
  }
}

const ALIVE = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'] } },
  example: { status: 'ok', info: {}, error: {}, details: {} },
};

@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: Readiness,
  ) {}

  /**
   * Reports that the process responds. An orchestrator should restart a process that does not respond.
   * HealthCheckService is not used: it reports a shutdown as a failure, and a service that is shutting down must not be
   * restarted.
   */
  @Get('live')
  @ApiOperation({ summary: 'Reports that the process answers.' })
  @ApiOkResponse({ schema: ALIVE })
  getLiveness(): HealthCheckResult {
    return { status: 'ok', info: {}, error: {}, details: {} };
  }

  /**
   * Reports readiness: 503 while a check fails, such as an unreachable or read-only database, and during the shutdown.
   */
  @Get('ready')
  @ApiOperation({ summary: 'Reports if the service accepts requests.' })
  @HealthCheck()
  async getReadiness(): Promise<HealthCheckResult> {
    const outcomes = Object.entries(await this.readiness.runChecks());
    return this.health.check([
      ...outcomes.map(
        ([name, outcome]) =>
          () =>
            this.buildIndicator(name, outcome),
      ),
      ...this.readiness.collectRemarks().map(
        ([name, remark]) =>
          () =>
            this.buildRemark(name, remark),
      ),
    ]);
  }

  @Get('startup')
  @ApiOperation({ summary: 'Reports if the service has started.' })
  @HealthCheck()
  getStartup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.buildIndicator('started', this.readiness.started)]);
  }

  private buildIndicator(name: string, outcome: boolean | string) {
    const indicator = this.indicators.check(name);
    if (typeof outcome === 'string') return indicator.down(outcome);
    return outcome ? indicator.up() : indicator.down();
  }

  /**
   * Builds the health indicator of a remark. The indicator is always up, since a remark does not stop a load balancer
   * from sending requests; `degraded` is true while the remark reports a problem.
   */
  private buildRemark(name: string, remark: string | undefined) {
    const indicator = this.indicators.check(name);
    return remark === undefined ? indicator.up() : indicator.up({ degraded: true, message: remark });
  }
}
