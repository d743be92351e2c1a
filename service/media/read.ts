import type { FileHandle } from 'node:fs/promises';

/** So many bytes of a file, from an offset on; fewer where it ends. */
export const readAt = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
};
