// Codes with which the service closes WebSockets (RFC 6455 section 7.4 and its registry).

/** The service is shutting down. */
export const GOING_AWAY = 1001;
/** The client did what it may not, or its credentials have ended. */
export const REFUSED = 1008;
export const INTERNAL_ERROR = 1011;
/** The client is too slow, or the database is away. */
export const TRY_AGAIN_LATER = 1013;
