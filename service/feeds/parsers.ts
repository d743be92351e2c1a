/** The libraries that read what others have written: a bundle of its own, for a thread of its own. */
export { parseFeed } from 'feedsmith';
export { jsonpath } from 'json-p3';
