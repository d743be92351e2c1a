/** Markdown (GitHub's dialect) as HTML, which is made harmless like every other markup. Loaded by templates that use it. */
import { Marked } from 'marked';

const marked = new Marked({ async: false, gfm: true, breaks: true });

/** Raw HTML in the text is shown as it is written. */
export const markdown = (text: string): string =>
  marked.parse(text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'), { async: false });
