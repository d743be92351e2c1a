/** Text frames of WebSockets (RFC 6455, 5.2) that are built once and written to any number of sockets. */

import type { WebSocket } from 'ws';
import * as library from 'ws';

/** What ws exports and its types leave out. */
interface FrameWriter {
  sendFrame(list: readonly Buffer[]): void;
}
const { Sender } = library as unknown as { Sender: { frame(data: Buffer, options: object): Buffer[] } };

const textFrame = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: true };

/** A whole frame, head included. */
export type Frame = Buffer & { readonly isFrame: true };

export const frameOf = (message: object): Frame =>
  Buffer.concat(Sender.frame(Buffer.from(JSON.stringify(message)), textFrame)) as Frame;

/**
 * Writes a frame with one system call. ws itself builds a head for each socket, and writes it apart from its payload.
 * Only for open sockets without compression, whose frames ws also writes immediately and in order.
 */
export const writeFrame = (socket: WebSocket, frame: Frame): void =>
  (socket as unknown as { _sender: FrameWriter })._sender.sendFrame([frame]);
