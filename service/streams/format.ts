/** FLV (Adobe's specification, version 10.1): a header, then tags, each followed by its size. */
const fileHeader = 9;
const tagHeader = 11;
const sizeField = 4;

const videoTag = 9;
const avc = 7;
const sequenceHeader = 0;

/** The H.264 parameters that a tag carries; null: it carries something else. */
const parameters = (tag: Buffer): Buffer | null => {
  const body = tag.subarray(tagHeader, -sizeField);
  const isHeader = tag[0] === videoTag && ((body[0] ?? 0) & 0x0f) === avc && body[1] === sequenceHeader;
  return isHeader ? Buffer.from(body) : null;
};

/**
 * Watches the parameters of an H.264 stream in an FLV. A server that keeps its viewers while a source goes and another
 * comes sends the new parameters once, between two frames; what ffmpeg (before 7) makes of it as MPEG-TS goes on with
 * the old ones, and no decoder can play that. Its FLV has both.
 */
export const createFormatWatch = () => {
  let rest: Buffer = Buffer.alloc(0);
  let skip = fileHeader + sizeField;
  let known: Buffer | null = null;

  return {
    /** Takes the bytes that have come. True: the parameters are no longer those that there were at first. */
    isOther(chunk: Buffer): boolean {
      rest = Buffer.concat([rest, chunk]);
      let isOther = false;
      for (;;) {
        const size = skip || (rest.length < tagHeader ? tagHeader : tagHeader + rest.readUIntBE(1, 3) + sizeField);
        if (rest.length < size) return isOther;
        const found = skip ? null : parameters(rest.subarray(0, size));
        known ??= found;
        if (found && known && !found.equals(known)) isOther = true;
        rest = rest.subarray(size);
        skip = 0;
      }
    },
  };
};
