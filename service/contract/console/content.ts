/** Editing of the content: `/console/api/content`. */
import { z } from 'zod';
import type { contentFile } from '../content.ts';
import { contentIssue } from '../content-terms.ts';
import { author, instant, operator, sha256 } from '../terms.ts';

/** Largest document as compact JSON in UTF-8, and in a request; largest content.json. Bytes. */
export const mostContentBytes = 4 * 1024 ** 2;
export const mostContentFileBytes = 8 * 1024 ** 2;

/** `content.json` as the operator writes it, with all optional fields optional. */
export type ContentDraft = z.input<typeof contentFile>;

/** Any JSON object: what is wrong with the document is told by path, as errors. */
export const contentDraft = z
  .looseObject({ screens: z.array(z.looseObject({})).describe('one per screen') })
  .meta({ id: 'ContentDraft', description: 'content.json, as its JSON Schema in the data directory describes it' });

const version = {
  sha256: sha256.describe(
    'of the version, including its timestamps: equal on all boxes; the ETag is this value in quotes',
  ),
  changedAt: instant.describe('when it was edited'),
};

export const editedContent = z
  .object({ ...version, content: contentDraft.describe('the current document, as the operator wrote it') })
  .meta({ id: 'EditedContent' });
export type EditedContent = Omit<z.infer<typeof editedContent>, 'content'> & { content: ContentDraft };

const warnings = z.array(contentIssue).describe('parts that will not play as intended; the first fifty');

export const publishedContent = z.object({ ...version, warnings }).meta({ id: 'PublishedContent' });
export type PublishedContent = z.infer<typeof publishedContent>;

export const contentCheck = z
  .object({
    ok: z.boolean().describe('whether the document can be published'),
    errors: z.array(contentIssue).describe('why not; the first twenty'),
    warnings,
  })
  .meta({ id: 'ContentCheck' });
export type ContentCheck = z.infer<typeof contentCheck>;

/** A version that an edit on another box replaced, which was not made on it. */
export const replacedVersion = z
  .object({
    sha256: sha256.describe('of the version that was replaced'),
    replaced_by: sha256.describe('of the version that took its place without having seen it'),
    at: instant.describe('when this box learned of it'),
    operator,
  })
  .meta({ id: 'ReplacedVersion' });
export type ReplacedVersion = z.infer<typeof replacedVersion>;

/** One version of the content, from an edit by console, command line or file, on any box. */
export const contentVersionSummary = z
  .object({
    ...version,
    nodeId: z.string().describe('id of the box where the edit was made'),
    operator,
    person: author.nullable().default(null).describe('who proved to have made it; null: nobody did'),
    approved_by: author.nullable().default(null).describe('who published the draft that it was; null: it was none'),
    bytes: z.int().nonnegative().describe('size of content.json'),
    replaced_by: sha256
      .nullable()
      .describe(
        'the version that took its place without having seen it: of two boxes that published at once; else null',
      ),
  })
  .meta({ id: 'ContentVersionSummary' });

export const contentVersions = z
  .object({ versions: z.array(contentVersionSummary).describe('newest first, at least the last fifty') })
  .meta({ id: 'ContentVersions' });
export type ContentVersions = z.infer<typeof contentVersions>;
