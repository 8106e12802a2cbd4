import { useEffect, useEffectEvent, useState } from 'react';
import {
  type Connection,
  followGateway,
  type GatewayEventFrame,
  type GatewayFilter,
  type GatewayReader,
} from './gateway.js';

/**
 * Follows the event gateway while the component is mounted.
 * @returns the state of the connection
 */
export function useGateway(query: GatewayFilter, reader: Omit<GatewayReader, 'onConnection'>): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const onFrame = useEffectEvent((frame: GatewayEventFrame) => reader.onFrame(frame));
  const onGap = useEffectEvent(() => reader.onGap?.());
  const key = JSON.stringify(query);
  useEffect(
    () =>
      followGateway(JSON.parse(key) as GatewayFilter, {
        onFrame: (frame) => onFrame(frame),
        onGap: () => onGap(),
        onConnection: setConnection,
      }),
    [key],
  );
  return connection;
}
