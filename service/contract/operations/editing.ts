import { z } from 'zod';
import { contentCheck, contentDraft, contentVersions, editedContent, publishedContent } from '../console/content.ts';
import { designList } from '../console/designs.ts';
import { operatorHeader } from '../headers.ts';
import { mediaList, renameRequest, uploadResult } from '../media.ts';
import { sha256 } from '../terms.ts';
import { digestExample, momentExample, nodeExample } from './examples.ts';
import { entityTag, json, type Operations, ok, unchanged } from './operation.ts';

const documentExample = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['entrance'] }],
  playlists: [{ id: 'welcome', slides: [{ kind: 'text', title: 'Good morning', duration_seconds: 12 }] }],
};
const warning = {
  path: 'playlists[0].slides[0].schedule_mode',
  message: '"Good morning": schedule_start_time without schedule_mode has no effect',
};
const version = { sha256: digestExample, changedAt: momentExample };

export const editing = {
  'GET /console/api/content': {
    role: 'viewer',
    summary: 'Get the current content',
    description: 'A document without screens if there has never been valid content.',
    answer: {
      200: {
        ...ok('The document.', editedContent, { ...version, content: documentExample })[200],
        headers: entityTag,
      },
      ...unchanged,
    },
  },
  'PUT /console/api/content': {
    role: 'publisher',
    scope: 'refused',
    audit: { action: 'content.publish', subject: 'content' },
    summary: 'Publish content',
    description:
      'Replaces content.json on the whole site. If-Match must name the version that plays: of concurrent requests to one box, exactly one succeeds. Of requests to two boxes at once both may succeed: the one with the higher version then plays everywhere, and the boxes name the other one, with what replaced it, in `replaced_by` of its versions and in `content.replaced` of `GET /healthz`, usually within 2 s. Responds once the content is durable.',
    headers: z.object({
      'If-Match': z.string().optional().describe('Required: the ETag of the content that was edited, or `*`.'),
      [operatorHeader]: z.string().optional().describe('Name of the person, 1 to 64 characters; unproven.'),
    }),
    body: json(contentDraft, documentExample),
    answer: {
      200: {
        ...ok('The content is stored, and plays.', publishedContent, { ...version, warnings: [warning] })[200],
        headers: entityTag,
      },
    },
    errors: [
      'invalid_content',
      'box_older',
      'content_changed',
      'precondition_required',
      'too_many_requests',
      'storage_unavailable',
      'insufficient_storage',
    ],
    examples: { 'If-Match': '*' },
  },
  'POST /console/api/content/check': {
    role: 'viewer',
    summary: 'Check content without publishing it',
    body: json(contentDraft, documentExample),
    answer: ok('The findings.', contentCheck, { ok: true, errors: [], warnings: [warning] }),
    errors: ['too_many_requests'],
  },
  'GET /console/api/designs': {
    role: 'viewer',
    summary: 'List the designs',
    description:
      'Templates that come with the player: a template slide names one in `template_id`, and fills it in by `content`.',
    answer: ok('The designs.', designList, {
      designs: [
        {
          id: 'design:quote',
          name: 'Quote',
          schema: { type: 'object', properties: { text: { type: 'string', title: 'Quote', maxLength: 400 } } },
          example: { text: 'The best way out is always through.' },
          html: '<blockquote>{{ text }}</blockquote>',
        },
      ],
    }),
  },
  'GET /console/api/content/versions': {
    role: 'viewer',
    summary: 'List the versions of the content',
    description: 'The versions that this box has played: edits by console, command line and file, made on any box.',
    answer: ok('The versions, newest first.', contentVersions, {
      versions: [
        {
          ...version,
          nodeId: nodeExample,
          operator: 'Maria',
          person: null,
          approved_by: null,
          bytes: 48211,
          replaced_by: null,
        },
      ],
    }),
  },
  'GET /console/api/content/versions/:sha256': {
    role: 'viewer',
    summary: 'Get a version of the content',
    params: z.object({ sha256: sha256.describe('SHA-256 of the document, hex') }),
    answer: ok('The document, as the operator wrote it.', contentDraft, documentExample),
    errors: ['version_not_found'],
    examples: { sha256: digestExample },
  },
  'GET /console/api/media': {
    role: 'viewer',
    summary: 'List the media',
    answer: ok('The list.', mediaList, {
      media: [
        {
          filename: 'hall.jpg',
          size: 482113,
          sha256: digestExample,
          url: '/media/hall.jpg',
          media_type: 'image/jpeg',
          width: 3840,
          height: 2160,
          duration_seconds: null,
          codec: 'jpeg',
          codec_profile: null,
          frame_rate: null,
          loudness: null,
          peak: null,
          rendition: { state: 'none', progress: 0, reason: null, size: null },
          modified_at: momentExample,
          used_by: ['welcome-1'],
          in_drafts: ['Easter'],
        },
      ],
      used_bytes: 731906048,
      quota_bytes: 68719476736,
    }),
  },
  'POST /console/api/media/:filename/rename': {
    role: 'editor',
    scope: 'judged',
    audit: { action: 'medium.rename', subject: 'renaming', id: 'filename', fields: ['to'] },
    summary: 'Rename a medium on the whole site',
    description:
      'The file has the new name on all boxes; on a box that is away, when it is back. Playlists, templates, messages and the house style follow in one version of the content, and so do takeovers and drafts; records of what was shown stay as they are. The old name goes on to stand for the file for 400 days, until an upload takes it, so that no page and no program that knows it loses the file. Renditions are not made again. The new name must indicate the same media type. An editor renames what nobody uses and the editor uploaded, a publisher everything. After an error the request can be repeated.',
    params: z.object({ filename: z.string().describe('Name of the file, percent-encoded.') }),
    body: json(renameRequest, { to: 'great-hall.jpg' }),
    answer: ok('The file under its new name.', uploadResult, {
      filename: 'great-hall.jpg',
      size: 482113,
      sha256: digestExample,
      url: '/media/great-hall.jpg',
      media_type: 'image/jpeg',
    }),
    errors: [
      'missing_field',
      'invalid_field',
      'file_not_found',
      'name_taken',
      'box_older',
      'invalid_content',
      'content_changed',
      'too_many_requests',
      'storage_unavailable',
      'insufficient_storage',
    ],
    examples: { filename: 'hall.jpg' },
  },
  'GET /console/api/media/:filename/thumbnail': {
    role: 'viewer',
    acts: true,
    summary: 'Get a small picture of a medium',
    description: 'The longest side has 640 pixels; of a video it is a frame of its first second.',
    params: z.object({ filename: z.string().describe('Name of the file, percent-encoded.') }),
    answer: {
      200: {
        description: 'The picture.',
        headers: entityTag,
        content: { 'image/jpeg': { schema: z.string().meta({ format: 'binary' }) } },
      },
      ...unchanged,
    },
    errors: ['invalid_field', 'file_not_found', 'not_found', 'too_many_requests'],
    examples: { filename: 'hall.jpg' },
  },
} as const satisfies Operations;
