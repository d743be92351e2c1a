/** Replaces debug in the bundle: it detects terminal colours at each start, and its output is not used. */
const silent = Object.assign(() => {}, { enabled: false });
const createDebug = () => silent;
module.exports = Object.assign(createDebug, { default: createDebug });
