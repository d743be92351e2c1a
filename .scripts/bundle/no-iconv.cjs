/** Replaces iconv-lite in the bundle: bodies are read as bytes, and decoded as UTF-8 elsewhere. */
exports.getDecoder = (encoding) => {
  throw new Error(`no decoder for ${encoding}`);
};
