/** A mouse on a Wayland compositor without hardware, by the protocol wlr-virtual-pointer-unstable-v1. */
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

const integer = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** A string of the wire: its length with the final zero, then itself, filled up to four bytes. */
const string = (text: string): Buffer => {
  const bytes = Buffer.alloc(4 + Math.ceil((text.length + 1) / 4) * 4);
  bytes.writeUInt32LE(text.length + 1);
  bytes.write(text, 4);
  return bytes;
};

const MANAGER = 'zwlr_virtual_pointer_manager_v1';
const HEADER = 8;
/** Ids of the objects: the first is the protocol's, the others are ours. */
const [display, registry, manager, pointer] = [1, 2, 3, 4] as const;

/** Moves a pointer to and fro near the upper left corner, 20 times a second, until the test is over. */
export const movePointer = (path: string): void => {
  const socket = connect(path);
  let moving: NodeJS.Timeout | undefined;
  onTestFinished(() => {
    clearInterval(moving);
    socket.destroy();
  });

  const send = (object: number, opcode: number, ...parts: Buffer[]): void => {
    const body = Buffer.concat(parts);
    socket.write(Buffer.concat([integer(object), integer((body.length + HEADER) * 0x1_00_00 + opcode), body]));
  };

  const begin = (name: number): void => {
    // wl_registry.bind and create_virtual_pointer, on no seat in particular.
    send(registry, 0, integer(name), string(MANAGER), integer(1), integer(manager));
    send(manager, 0, integer(0), integer(pointer));
    let steps = 0;
    moving = setInterval(() => {
      steps += 1;
      // motion_absolute: time in ms, x, y, and what they are parts of; then frame.
      send(pointer, 1, integer(steps * 50), ...[300 + (steps % 50), 300, 2560, 720].map(integer));
      send(pointer, 4);
    }, 50);
  };

  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= HEADER) {
      const size = received.readUInt16LE(6);
      if (received.length < size) return;
      // wl_registry.global: name, interface, version.
      if (received.readUInt32LE(0) === registry && received.subarray(HEADER, size).includes(MANAGER)) {
        begin(received.readUInt32LE(HEADER));
      }
      received = received.subarray(size);
    }
  });
  // wl_display.get_registry
  send(display, 1, integer(registry));
};
