/** Edits of the content that are made at this box, as documents that other boxes can compare. */
import type { ContentFile } from '../contract/content.ts';
import type { ContentDocument } from '../contract/peers.ts';
import { editedDocument } from '../domain/document.ts';
import { createEmitter } from '../domain/emitter.ts';
import { isDemo } from './content-file.ts';
import { modelOf, type ScreenDocument } from './model.ts';

interface Edit {
  /** As the file has it. */
  bytes: Buffer;
  /** `bytes`, validated. */
  content: ContentFile;
  /** ISO 8601. */
  changedAt: string;
  /** One more than the highest that this box has seen. */
  nextCounter(): number;
  operator?: string | null;
  /** The push of the fleet that is published. */
  push?: ContentDocument['push'];
  person?: ContentDocument['person'];
  approved_by?: ContentDocument['approved_by'];
}

/** An edit through the API. */
export interface Publication {
  /** What is written to content.json. */
  text: string;
  /** `text`, validated. */
  content: ContentFile;
  /** Whether the content that plays is the one that was edited; null: there was none. */
  isExpected(sha256: string | null): boolean;
  operator: string | null;
  /** The push of the fleet that is published; absent: a local edit. */
  push?: ContentDocument['push'];
  /** Who proved to have made it; absent: nobody did. */
  person?: ContentDocument['person'];
  /** Who publishes a draft; absent: it is none. */
  approved_by?: ContentDocument['approved_by'];
}

/** The audit's record of a document; null: there never was one. */
export const documentState = (document: ContentDocument | null) =>
  document && { sha256: document.sha256, changedAt: document.changedAt };

/** The content before and after a change of content.json by an editor. */
export type FileEdit = Record<'before' | 'after', ReturnType<typeof documentState>>;

/** Edits of content.json; those before the first listener wait for it. */
export const createFileEdits = () => {
  const edits = createEmitter<[FileEdit]>();
  let waiting: FileEdit[] | null = [];
  return {
    add: (edit: FileEdit): void => (waiting === null ? edits.emit(edit) : void waiting.push(edit)),
    /** Drops the waiting ones: the first content of a box is not an edit. */
    forget: (): void => {
      if (waiting !== null) waiting = [];
    },
    on: (listener: (edit: FileEdit) => void): void => {
      for (const edit of waiting ?? []) listener(edit);
      waiting = null;
      edits.on(listener);
    },
  };
};

interface Edited {
  document: ContentDocument;
  screenDocuments: ReadonlyMap<string, ScreenDocument>;
}

/** Depends only on the document, so that all boxes with the same document have the same revisions. */
export const screenDocumentsOf = ({ stamps, changedAt }: ContentDocument, content: ContentFile) =>
  modelOf(content, new Map(stamps), changedAt).screenDocuments;

export const createEdits =
  (nodeId: string, demo: { demoDir: string }) =>
  /**
   * The document of an edit of `current`, and its screens. An unchanged text leaves the document as it is.
   */
  async (
    current: ContentDocument | null,
    { bytes, content, changedAt, operator = null, person, push, approved_by, nextCounter }: Edit,
  ): Promise<Edited> => {
    const text = bytes.toString();
    // Record the fleet's request even if the text already plays, so that a later local edit is kept.
    if (current !== null && current.text === text && push === undefined) {
      return { document: current, screenDocuments: screenDocumentsOf(current, content) };
    }
    const { stamps, screenDocuments } = modelOf(content, new Map(current?.stamps), changedAt);
    const counter = current === null && (await isDemo(bytes, demo)) ? 0 : nextCounter();
    const version = { counter, nodeId, changedAt, stamps: [...stamps], operator, person, push, approved_by, text };
    return { document: editedDocument(current, version), screenDocuments };
  };
