// Codes with which the service closes WebSockets (RFC 6455 section 7.4 and its registry).

/** Close code of a shutdown. */
export const GOING_AWAY = 1001;
/** Close code of a client that violated a limit, or whose credentials have expired. */
export const REFUSED = 1008;
export const INTERNAL_ERROR = 1011;
/** Close code of a slow client, or of an unreachable database. */
export const TRY_AGAIN_LATER = 1013;
