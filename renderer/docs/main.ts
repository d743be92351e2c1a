/** The API documents, shown by rapidoc. */
import 'rapidoc';
import { apiDocument } from 'virtual:api-document';

/** The viewer, as far as it is used here. */
interface Viewer extends Element {
  loadSpec(document: unknown): Promise<void>;
}

await customElements.whenDefined('rapi-doc');
await document.querySelector<Viewer>('rapi-doc')?.loadSpec(apiDocument);
