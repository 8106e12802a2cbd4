import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, type HealthCheckResult, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Readiness } from './readiness.js';

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
   * Reports that the process responds: restart it if it does not. HealthCheckService is not used, since it reports a
   * shutdown as a failure, and a draining service must be left to finish.
   */
  @Get('live')
  @ApiOperation({ summary: 'Whether the process answers.' })
  @ApiOkResponse({ schema: ALIVE })
  getLiveness(): HealthCheckResult {
    return { status: 'ok', info: {}, error: {}, details: {} };
  }

  /** Responds with 503 while the database is unreachable or not writable, and during the shutdown. */
  @Get('ready')
  @ApiOperation({ summary: 'Whether requests may be sent here.' })
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
  @ApiOperation({ summary: 'Whether the service has started.' })
  @HealthCheck()
  getStartup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.buildIndicator('started', this.readiness.started)]);
  }

  private buildIndicator(name: string, outcome: boolean | string) {
    const indicator = this.indicators.check(name);
    if (typeof outcome === 'string') return indicator.down(outcome);
    return outcome ? indicator.up() : indicator.down();
  }

  /** Builds an indicator that stays up, since a remark keeps no request away. `degraded` marks a problem. */
  private buildRemark(name: string, remark: string | undefined) {
    const indicator = this.indicators.check(name);
    return remark === undefined ? indicator.up() : indicator.up({ degraded: true, message: remark });
  }
}
