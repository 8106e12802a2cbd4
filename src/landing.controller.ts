import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** Where a person who opens the service's address in a browser is sent. */
@ApiExcludeController()
@Controller()
export class LandingController {
  @Get()
  @Redirect('/docs', 302)
  land(): void {}
}
